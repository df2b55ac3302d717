import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";

import { expect, test, vi } from "vitest";

vi.setConfig({ testTimeout: 60_000 });

test("startIn() makes a sandbox whose close() holds this process until programs are gone that nothing else holds", async () => {
  const folder = join(import.meta.dirname, "..");
  const program = `
    import { findSandbox } from ${JSON.stringify(join(folder, "find-sandbox.ts"))};
    import { defaultLimits } from ${JSON.stringify(join(folder, "sandbox.ts"))};
    const sandbox = await findSandbox();
    const profile = { mounts: [], environment: {}, programs: [], limits: defaultLimits };
    const waiting = await sandbox.start(profile, ["sleep", "100"]);
    const closing = sandbox.close();
    waiting.setHeld(false);
    await closing;
    console.log("closed");`;

  const run = await promisify(execFile)(process.execPath, [
    "--conditions=@kitbag/source",
    "--input-type=module",
    "--eval",
    program,
  ]);

  expect(run.stdout).toBe("closed\n");
});
