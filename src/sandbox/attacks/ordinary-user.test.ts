import { describe, expect, test } from "vitest";

import { attacks } from "../../../test/support/attacks/all-attacks.ts";
import { needsPython } from "../../../test/support/attacks/attack.ts";
import { corners as allCorners, programsOf, type Corner } from "../../../test/support/attacks/arena.ts";
import { needProgram } from "../../../test/support/need-program.ts";
import { runAsUser } from "../../../test/support/run-as-user.ts";
import { findProgram } from "../programs.ts";

type Problems = ReadonlyMap<string, unknown>;

/** Firejail runs for nobody whom the machine does not know, and such a user has processes that nobody counts apart. */
const corners = allCorners.filter(
  ({ sandbox, way }) => sandbox !== "firejail" && ["cold", "fork server"].includes(way),
);

// What runs as root takes other ways: it becomes somebody else first. If these tests are no root, all others are this test.
describe.runIf(process.getuid?.() === 0).for(corners)("$sandbox, $way, as an ordinary user", (corner) => {
  test.for(Object.values(attacks).flat())(
    "holds a script that $name",
    { timeout: 300_000 },
    async (attack, context) => {
      for (const program of programsOf(corner)) needProgram(context, program);
      if (needsPython(attack)) needProgram(context, "python3");

      const problems = (await findProblems(corner)).get(attack.name);

      expect(problems).toEqual([]);
    },
  );
});

let running: ReadonlyMap<Corner, Promise<Problems>> | undefined;

/** What became of all attacks in a corner. All corners are attacked at once: an attack mostly waits. */
async function findProblems(corner: Corner): Promise<Problems> {
  running ??= new Map(corners.filter(hasPrograms).map((one) => [one, attackAsUser(one)]));
  const [found] = await Promise.all([running.get(corner), Promise.allSettled(running.values())]);
  return found ?? new Map();
}

function hasPrograms(corner: Corner): boolean {
  return programsOf(corner).every((program) => findProgram(program) !== undefined);
}

async function attackAsUser({ sandbox, way }: Corner): Promise<Problems> {
  const lines = await runAsUser("test/support/attacks/attack-as-user.ts", [sandbox, way]);
  const found = lines
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as { name: string; problems: unknown });
  return new Map(found.map(({ name, problems }) => [name, problems]));
}
