import { once } from "node:events";

import { afterAll, expect, onTestFinished, test } from "vitest";

import { checkBackend, commandLines } from "../../../test/support/backend-checks.ts";
import { needProgram } from "../../../test/support/need-program.ts";
import { findSandbox, type FoundSandbox } from "../find-sandbox.ts";
import { defaultLimits } from "../sandbox.ts";

let opened: Promise<FoundSandbox> | undefined;
afterAll(async () => (await opened)?.close());

checkBackend({ symbol: "unshareSandbox()", program: "unshare", open });

test("unshareSandbox() has nothing of a profile in its command line but how to enter", async (context) => {
  needProgram(context, "unshare");
  const profile = { mounts: [], environment: {}, programs: [], limits: defaultLimits };

  const started = await (await open()).start(profile, ["bash", "-c", "echo; sleep 100"]);
  onTestFinished(() => started.kill());
  await once(started.stdout, "data");
  const own = commandLines(started.pid).find((line) => line.includes("/unshare --user"));

  expect(own?.replaceAll(/\S*\//gu, "")).toMatchInlineSnapshot(
    `"unshare --user --map-user=65534 --map-group=65534 --keep-caps --mount --propagation private --pid --fork --kill-child --ipc --uts --net --cgroup -- perl enter.pl"`,
  );
});

function open(): Promise<FoundSandbox> {
  return (opened ??= findSandbox({ name: "unshare" }));
}
