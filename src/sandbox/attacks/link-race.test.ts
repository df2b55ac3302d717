import { describe, expect, test } from "vitest";

import { needProgram } from "../../../test/support/need-program.ts";
import { runAsUser } from "../../../test/support/run-as-user.ts";
import type { LinkRace } from "../../../test/support/attacks/race-links.ts";

/** CI races longer in a step of its own. */
const calls = Number(process.env["KITBAG_RACE_CALLS"] ?? 12);

const races = ["bubblewrap", "unshare"].flatMap((sandbox) =>
  ["cold", "warm"].flatMap((way) => ["read", "write"].map((access) => ({ sandbox, way, access }))),
);

describe.for(races)("$sandbox, $way, as an ordinary user", ({ sandbox, way, access }) => {
  test(`R2: a tool that swaps a granted path with a link gives no other tool what is behind it to ${access}`, async (context) => {
    for (const program of [sandbox === "bubblewrap" ? "bwrap" : sandbox, "perl"]) needProgram(context, program);

    const race = JSON.parse(
      await runAsUser("test/support/attacks/race-links.ts", [sandbox, way, access, String(calls)]),
    ) as LinkRace;

    expect(race.outside).toBe(0);
    // Both happened: the tool ran, and the link was there.
    expect(race.inside + race.refused + race.replaced).toBeGreaterThanOrEqual(calls);
    expect(race.swaps).toBeGreaterThan(0);
    expect(race.others).toEqual([]);
  }, 180_000);
});
