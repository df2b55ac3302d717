import { expect, test } from "vitest";

import { createRunningCalls, type RunningCall } from "./running-calls.ts";

test("idle() resolves for everybody who waits when the last call has ended", async () => {
  const runningCalls = createRunningCalls();
  const [first, second] = [callOf("pdf/a"), callOf("pdf/b")];
  const ended: string[] = [];
  runningCalls.enter("pdf", first);
  runningCalls.enter("pdf", second);
  const waiting = ["one", "two"].map((name) => runningCalls.idle("pdf").then(() => ended.push(name)));

  runningCalls.leave("pdf", first, false);
  await runningCalls.idle("other");
  const before = [...ended];
  runningCalls.leave("pdf", second, true);
  await Promise.all(waiting);

  expect(before).toEqual([]);
  expect(ended).toEqual(["one", "two"]);
  expect(runningCalls.running("pdf")).toEqual([]);
  expect(runningCalls.usage("pdf")).toMatchObject({ calls: 2, failures: 1 });
});

test("leave() of a call that never came changes nothing but the failures", () => {
  const runningCalls = createRunningCalls();

  runningCalls.leave("pdf", callOf("pdf/a"), true);

  expect(runningCalls.usage("pdf")).toEqual({ activations: 0, calls: 0, failures: 1 });
});

function callOf(address: string): RunningCall {
  return { address, stop() {} };
}
