import { expect, test } from "vitest";

import { toFailure } from "../../core/errors.ts";
import { takeOutput } from "./run-plan.ts";

const place = { tool: "p", step: "1: read" };

test("takeOutput() answers with the output of a call that went well", () => {
  expect(takeOutput({ status: "ok", output: { a: 1 } }, place)).toEqual({ a: 1 });
});

test("takeOutput() fails with the code and the message of a failed call", () => {
  const error = toFailure("call-timeout", { tool: "read", limitMs: 5 });

  expect(() => takeOutput({ status: "failed", error }, place)).toThrow(
    expect.objectContaining({
      code: "step-failed",
      details: { ...place, code: "call-timeout", reason: error.message },
    }),
  );
});

test("takeOutput() does not take the head of an output for the output", () => {
  const outcome = { status: "ok", output: { head: "[1" }, capped: { handle: "h", bytes: 5_000_000 } } as const;

  expect(() => takeOutput(outcome, place)).toThrow(
    expect.objectContaining({ details: expect.objectContaining({ code: "output-too-large" }) as object }),
  );
});
