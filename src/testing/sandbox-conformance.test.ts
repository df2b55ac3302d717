import { describe, expect, test } from "vitest";

import { needProgram } from "../../test/support/need-program.ts";
import { findSandbox } from "../sandbox/find-sandbox.ts";
import { guarantees, type Sandbox } from "../sandbox/sandbox.ts";
import { sandboxConformance } from "./sandbox-conformance.ts";

describe.for([
  ["bubblewrap", "bwrap"],
  ["unshare", "unshare"],
  ["off", "bash"],
] as const)("%s", ([name, program]) => {
  test.for(sandboxConformance(() => findSandbox({ name })))("$name", async (check, context) => {
    needProgram(context, program);

    await expect(check.run()).resolves.toBeUndefined();
  });
});

test("sandboxConformance() finds a sandbox that does not hold what it says", async (context) => {
  needProgram(context, "unshare");
  const checks = sandboxConformance(async () => leak(await findSandbox({ name: "unshare" })));

  const failed: string[] = [];
  for (const { name, run } of checks) await run().catch(() => failed.push(name));

  expect(failed).toEqual([
    "start() shows nothing of the host that is not mounted",
    'enforces "environment" if it says so',
    'enforces "cpu" if it says so',
  ]);
});

test("sandboxConformance() checks every guarantee there is", () => {
  const names = sandboxConformance(() => findSandbox({ name: "off" })).map(({ name }) => name);

  for (const guarantee of guarantees) expect(names).toContain(`enforces "${guarantee}" if it says so`);
});

/** Shows a file of that name, adds a variable, and lets programs use any time. */
function leak(sandbox: Sandbox): Sandbox {
  return {
    ...sandbox,
    start: (profile, command, input) =>
      sandbox.start(
        {
          ...profile,
          environment: { ...profile.environment, LEAKED: "a variable" },
          limits: { ...profile.limits, cpuSeconds: 1000 },
        },
        command.map((word) => word.replace(" /etc/shadow", " /etc/passwd")),
        input,
      ),
  };
}
