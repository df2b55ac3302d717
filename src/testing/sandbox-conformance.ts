import assert from "node:assert/strict";

import { guarantees, type Guarantee, type Sandbox } from "../sandbox/sandbox.ts";
import { testSandbox, type SelfTest } from "../sandbox/self-test.ts";
import { openWorkArea } from "../sandbox/work-area.ts";
import type { ConformanceCheck } from "./conformance.ts";
import { mountChecks } from "./sandbox/mount-checks.ts";
import { programChecks } from "./sandbox/program-checks.ts";
import type { SandboxChecks, Stage } from "./sandbox/sandbox-check.ts";

/**
 * The checks that every {@link Sandbox} must pass: how programs start and end, and that it holds them to each guarantee it gives. A
 * guarantee that it does not give is not checked. `create` is called once for each check; the check closes the sandbox.
 *
 * @example
 * ```ts
 * import { openRuntimes } from "kitbag/runtimes";
 * import { sandboxConformance } from "kitbag/testing";
 *
 * const [check] = sandboxConformance(() => openRuntimes({ sandbox: "off" }).findSandbox());
 * await check?.run();
 * ```
 */
export function sandboxConformance(create: () => Sandbox | Promise<Sandbox>): readonly ConformanceCheck[] {
  let tested: Promise<SelfTest> | undefined;
  const guaranteed = guarantees.map((guarantee) => [
    `enforces "${guarantee}" if it says so`,
    async (stage: Stage) => {
      if (!stage.sandbox.enforces.has(guarantee)) return;
      // One test tries all of them.
      tested ??= testSandbox(stage.sandbox, stage.area);
      checkGuarantee(guarantee, await tested);
    },
  ]);
  const checks: SandboxChecks = { ...programChecks, ...mountChecks, ...Object.fromEntries(guaranteed) };
  return Object.entries(checks).map(([name, check]) => ({ name, run: () => runCheck(create, check) }));
}

function checkGuarantee(guarantee: Guarantee, { broken, enforced }: SelfTest): void {
  const found = broken.find((problem) => problem.guarantee === guarantee)?.found;
  assert.equal(found, undefined, `it does not hold programs to "${guarantee}": ${found}`);
  assert.ok(enforced.includes(guarantee), `nothing shows that it holds programs to "${guarantee}"`);
}

async function runCheck(create: () => Sandbox | Promise<Sandbox>, check: SandboxChecks[string]): Promise<void> {
  const sandbox = await create();
  const area = openWorkArea();
  try {
    await check?.({ sandbox, area });
  } finally {
    await sandbox.close();
    await area.remove();
  }
}
