import assert from "node:assert/strict";

import type { Mount } from "../../sandbox/sandbox.ts";
import { runIn, runShell, type SandboxChecks, type Stage } from "./sandbox-check.ts";

/** What programs are shown of the host. */
export const mountChecks: SandboxChecks = {
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
