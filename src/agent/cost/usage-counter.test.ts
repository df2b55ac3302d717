import { expect, test } from "vitest";

import type { ModelUsage } from "../../models/model.ts";
import { createUsageCounter } from "./usage-counter.ts";

test("createUsageCounter() adds up what answers and calls used", () => {
  const counter = createUsageCounter();

  counter.addAnswer(usage({ input: 100, cacheRead: 60, cacheWrite: 10, output: 20, reasoning: 5 }), 0.5);
  counter.addAnswer(usage({ input: 200, output: 30 }), 0.25);
  counter.addCall();

  expect(counter.usage()).toEqual({
    inputTokens: 300,
    cacheReadTokens: 60,
    cacheWriteTokens: 10,
    outputTokens: 50,
    reasoningTokens: 5,
    modelCalls: 2,
    toolCalls: 1,
  });
  expect([counter.tokens(), counter.cost(), counter.spent()]).toEqual([350, 0.75, 0.75]);
});

test("createUsageCounter() counts in its parent too", () => {
  const parent = createUsageCounter();

  createUsageCounter(parent).addAnswer(usage({ input: 1, output: 2 }), 0.5);
  createUsageCounter(parent).addAnswer(usage({ input: 3, output: 4 }), 0.25);
  createUsageCounter(parent).addCall();

  expect([parent.tokens(), parent.cost(), parent.usage().toolCalls]).toEqual([10, 0.75, 1]);
});

test("createUsageCounter() does not know what it cost as soon as one price is not known", () => {
  const counter = createUsageCounter();

  counter.addAnswer(usage({ input: 1, output: 1 }), 0.5);
  counter.addAnswer(usage({ input: 1, output: 1 }), undefined);
  counter.addAnswer(usage({ input: 1, output: 1 }), 0.5);

  expect(counter.cost()).toBeUndefined();
});

test("createUsageCounter() takes an answer whose price is not known for what it is told, and else for more than any limit", () => {
  const counter = createUsageCounter();

  counter.addAnswer(usage({}), 0.5);
  counter.addAnswer(usage({}), undefined, 0.25);
  const assumed = counter.spent();
  counter.addAnswer(usage({}), undefined);

  expect(assumed).toBe(0.75);
  expect(counter.spent()).toBe(Infinity);
});

test.for([Number.NaN, -5, Infinity, 1e300, undefined, "7" as unknown as number])(
  "createUsageCounter() takes %s for no tokens, and keeps its sums",
  (tokens) => {
    const counter = createUsageCounter();
    counter.addAnswer(usage({ input: 10, output: 10 }), 0);

    counter.addAnswer(
      usage({ input: tokens, cacheRead: tokens, cacheWrite: tokens, output: tokens, reasoning: tokens }),
      0,
    );

    expect(counter.usage()).toMatchObject({
      inputTokens: 10,
      outputTokens: 10,
      cacheReadTokens: 0,
      reasoningTokens: 0,
    });
  },
);

type Used = Partial<Record<"input" | "cacheRead" | "cacheWrite" | "output" | "reasoning", number | undefined>>;

function usage({ input, cacheRead, cacheWrite, output, reasoning }: Used): ModelUsage {
  return {
    inputTokens: { total: input, noCache: undefined, cacheRead, cacheWrite },
    outputTokens: { total: output, text: undefined, reasoning },
  };
}
