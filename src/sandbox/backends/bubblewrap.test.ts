import { once } from "node:events";

import { afterAll, expect, onTestFinished, test } from "vitest";

import { checkBackend, commandLines } from "../../../test/support/backend-checks.ts";
import { needProgram } from "../../../test/support/need-program.ts";
import { findSandbox, type FoundSandbox } from "../find-sandbox.ts";
import { defaultLimits } from "../sandbox.ts";

let opened: Promise<FoundSandbox> | undefined;
afterAll(async () => (await opened)?.close());

checkBackend({ symbol: "bubblewrapSandbox()", program: "bwrap", open });

test("bubblewrapSandbox() has nothing of a profile in its command line but limits and the command", async (context) => {
  needProgram(context, "bwrap");
  const profile = { mounts: [], environment: {}, programs: [], limits: defaultLimits };

  const started = await (await open()).start(profile, ["bash", "-c", "echo; sleep 100"]);
  onTestFinished(() => started.kill());
  await once(started.stdout, "data");
  const own = commandLines(started.pid).find((line) => line.includes("/bwrap "));

  // Descriptors that were left open for the tests themselves are closed by such words.
  const words = own?.slice(own.indexOf("/bwrap ")).replaceAll(/(?<=--args 4) --args \d+/gu, "");
  expect(words).toMatchInlineSnapshot(
    `"/bwrap --args 4 -- prlimit --cpu=60 --fsize=67108864 --nproc=64 --nofile=256 --core=0 --data=536870912 -- bash -c echo; sleep 100"`,
  );
});

function open(): Promise<FoundSandbox> {
  return (opened ??= findSandbox({ name: "bubblewrap" }));
}
