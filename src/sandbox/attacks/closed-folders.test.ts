import { describe, expect, test } from "vitest";

import { needProgram } from "../../../test/support/need-program.ts";
import { runAsUser } from "../../../test/support/run-as-user.ts";
import type { ClosedFolders } from "../../../test/support/attacks/close-folders.ts";

const sandboxes = [
  { sandbox: "bubblewrap", program: "bwrap" },
  { sandbox: "unshare", program: "unshare" },
];

describe.for(sandboxes)("$sandbox, as an ordinary user", ({ sandbox, program }) => {
  test("R3: a tool that closes a folder to its user does not get at what is shielded in it", async (context) => {
    needProgram(context, program);

    const found = JSON.parse(await runAsUser("test/support/attacks/close-folders.ts", [sandbox])) as ClosedFolders;

    expect(found.attack).toEqual({ status: "ok", output: "done" });
    expect(found.files).toEqual(["ours\n", "ours\n", "ours\n", "ours\n"]);
    expect(found.modes).toEqual(["711", "711"]);
    expect(found.plant).toMatchObject({ status: "failed", error: { code: "permission-refused" } });
    expect(found.isPlanted).toBe(false);
    expect(found.granted).toMatchObject({
      status: "failed",
      error: { code: "permission-refused", message: expect.stringContaining("chmod u+rx") },
    });
  }, 120_000);
});
