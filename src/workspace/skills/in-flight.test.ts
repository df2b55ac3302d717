import { expect, test } from "vitest";

import { createInFlight, type RunningCall } from "./running-calls.ts";

test("idle() resolves for everybody who waits when the last call has ended", async () => {
  const inFlight = createInFlight();
  const [first, second] = [callOf("pdf/a"), callOf("pdf/b")];
  const ended: string[] = [];
  inFlight.enter("pdf", first);
  inFlight.enter("pdf", second);
  const waiting = ["one", "two"].map((name) => inFlight.idle("pdf").then(() => ended.push(name)));

  inFlight.leave("pdf", first, false);
  await inFlight.idle("other");
  const before = [...ended];
  inFlight.leave("pdf", second, true);
  await Promise.all(waiting);

  expect(before).toEqual([]);
  expect(ended).toEqual(["one", "two"]);
  expect(inFlight.running("pdf")).toEqual([]);
  expect(inFlight.usage("pdf")).toMatchObject({ calls: 2, failures: 1 });
});

test("leave() of a call that never came changes nothing but the failures", () => {
  const inFlight = createInFlight();

  inFlight.leave("pdf", callOf("pdf/a"), true);

  expect(inFlight.usage("pdf")).toEqual({ activations: 0, calls: 0, failures: 1 });
});

function callOf(address: string): RunningCall {
  return { address, stop() {} };
}
