import { expect, test } from "vitest";

import type { RunResult } from "../../../agent/run-result.ts";
import { toFailure } from "../../../core/errors.ts";
import { describeEnd, toRunAnswer } from "./describe-end.ts";

const next = { resume: "resume r", fork: "fork r", approve: (approval: string): string => `approve ${approval}` };

test.for<[what: string, result: Partial<RunResult>, modelCalls: number, words: string | undefined]>([
  ["done", { status: "ok" }, 2, undefined],
  [
    "stopped by somebody",
    { status: "stopped", reason: "cancelled" },
    0,
    "Stopped: you stopped it; go on with it: resume r",
  ],
  [
    "out of time",
    { status: "stopped", reason: "time" },
    2,
    "Stopped: its time is over; raise --max-ms\nTo go on from there: fork r",
  ],
  [
    "lost",
    { status: "stopped", reason: "lost" },
    2,
    "Stopped: another process works on it now; go on with it: resume r",
  ],
  [
    "lost with a reason",
    {
      status: "stopped",
      reason: "lost",
      error: toFailure("lease-lost", { run: "r", epoch: 1, reason: "the disk is full" }),
    },
    2,
    "Stopped: the disk is full; go on with it: resume r",
  ],
  [
    "without its store",
    { status: "failed", error: toFailure("store-closed", { operation: "read" }) },
    2,
    `${toFailure("store-closed", { operation: "read" }).message}\nTo go on from there: resume r`,
  ],
  ["failed on the way", { status: "failed" }, 2, "It failed\nTo go on from there: fork r"],
  [
    "cut",
    { status: "cut", error: toFailure("answer-cut", { run: "r", model: "m", times: 4, text: "a" }) },
    2,
    "The answer is not whole: the output limit of the model cut it off\nTo go on from there: fork r",
  ],
  [
    "refused",
    { status: "refused", error: toFailure("answer-refused", { run: "r", model: "m", text: "" }) },
    2,
    `${toFailure("answer-refused", { run: "r", model: "m", text: "" }).message}\nTo go on from there: fork r`,
  ],
  ["failed at the first question", { status: "failed" }, 0, "It failed"],
])("describeEnd() says how to go on with a run that is %s", ([, result, modelCalls, words]) => {
  expect(describeEnd(toResult(result, modelCalls), next)).toBe(words);
});

test.for([
  ["ok", undefined],
  ["cut", 1],
  ["refused", 1],
  ["failed", 1],
] as const)("toRunAnswer() of a run that is %s has the exit code %s", ([status, exitCode]) => {
  expect(toRunAnswer(toResult({ status }, 1), undefined).exitCode).toBe(exitCode);
});

test("describeEnd() does not say how to go on with what is not kept", () => {
  expect(describeEnd(toResult({ status: "stopped", reason: "cancelled" }, 2), undefined)).toBe(
    "Stopped: you stopped it",
  );
});

function toResult(result: Partial<RunResult>, modelCalls: number): RunResult {
  return { steps: 3, usage: { modelCalls }, ...result } as RunResult;
}
