import assert from "node:assert/strict";

import { type Guarantee, guarantees, type Mount, type Sandbox } from "../sandbox/sandbox.ts";
import { type SelfTest, testSandbox } from "../sandbox/self-test.ts";
import { openWorkArea } from "../sandbox/work-area.ts";
import type { ConformanceCheck } from "./conformance.ts";
import { programChecks } from "./sandbox/program-checks.ts";
import { runIn, runShell, type SandboxChecks, type Stage } from "./sandbox/sandbox-check.ts";

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

/** What programs are shown of the host. */
const mountChecks: SandboxChecks = {
  "start() shows what is mounted, and keeps what is written where that was granted": async ({ sandbox, area }) => {
    const mounts = [given(area, true)];

    const written = await runIn(sandbox, ["tee", "/given/file"], { mounts, input: "kept" });
    const { stdout } = await runIn(sandbox, ["cat", "/given/file"], { mounts: [given(area, false)] });

    assert.deepEqual([written.exit, stdout], [{ code: 0 }, "kept"]);
  },
  "start() lets nothing be written that was only given to read": enforcing(async ({ sandbox, area }) => {
    const { exit } = await runIn(sandbox, ["tee", "/given/file"], { mounts: [given(area, false)], input: "x" });

    assert.notEqual(exit.code, 0);
  }),
  "start() shows nothing of the host that is not mounted": enforcing(async ({ sandbox, area }) => {
    await runIn(sandbox, ["tee", "/given/file"], { mounts: [given(area, true)], input: "secret" });

    const { stdout } = await runShell(
      sandbox,
      `cat ${area.own}/file ${area.own}/../*/file /etc/shadow /proc/1/root${area.own}/file`,
    );

    assert.equal(stdout, "");
  }),
  "start() gives every program a temporary directory of its own": enforcing(async ({ sandbox }) => {
    await runShell(sandbox, "echo left > /tmp/left; echo left > /dev/shm/left");

    const { stdout } = await runShell(sandbox, "cat /tmp/left /dev/shm/left; ls -A /tmp");

    assert.equal(stdout, "");
  }),
  "start() refuses words that have a zero byte": enforcing(async ({ sandbox }) => {
    const environment = { GIVEN: "a\0--bind\0/\0/host" };

    await assert.rejects(runIn(sandbox, ["true"], { environment }));
    await assert.rejects(runIn(sandbox, ["printf", "a\0b"]));
  }),
};

function given({ own }: Stage["area"], write: boolean): Mount {
  return { source: own, target: "/given", granted: true, write };
}

/** A sandbox that does not say that it holds files back is not asked. */
function enforcing(check: (stage: Stage) => Promise<void>): (stage: Stage) => Promise<void> {
  return async (stage) => {
    if (stage.sandbox.enforces.has("files")) await check(stage);
  };
}
