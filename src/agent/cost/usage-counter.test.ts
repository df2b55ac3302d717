import { expect, test } from "vitest";

import type { ModelUsage } from "../../models/model.ts";
import { createUsageCounter, toRunUsage } from "./usage-counter.ts";

test("createUsageCounter() adds up what answers and calls used", () => {
  const counter = createUsageCounter();

  counter.add({
    usage: toRunUsage(usage({ input: 100, cacheRead: 60, cacheWrite: 10, output: 20, reasoning: 5 })),
    cost: 0.5,
  });
  counter.add({ usage: toRunUsage(usage({ input: 200, output: 30 })), cost: 0.25 });
  counter.add({ usage: { toolCalls: 1 }, cost: 0 });

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

test("createUsageCounter() counts in the counter around it and in the total of its agent", () => {
  const total = createUsageCounter();
  const around = createUsageCounter({ total });
  const inner = createUsageCounter({ around });

  around.add({ usage: toRunUsage(usage({ input: 1, output: 2 })), cost: 0.5 });
  inner.add({ usage: toRunUsage(usage({ input: 3, output: 4 })), cost: 0.25, assumedTokens: 100 });

  expect([inner.tokens(), inner.cost()]).toEqual([7, 0.25]);
  expect([around.tokens(), around.spentTokens(), around.cost()]).toEqual([10, 110, 0.75]);
  expect([total.tokens(), total.cost()]).toEqual([10, 0.75]);
});

test("createUsageCounter() does not count what a journal says once more in the total of the agent", () => {
  const total = createUsageCounter();
  const around = createUsageCounter({ total });

  createUsageCounter({ around }).add({ usage: { toolCalls: 2 }, cost: 0.5 }, "past");

  expect([around.cost(), around.usage().toolCalls]).toEqual([0.5, 2]);
  expect([total.cost(), total.usage().toolCalls]).toEqual([0, 0]);
});

test("createUsageCounter() does not know what it cost as soon as one price is not known", () => {
  const counter = createUsageCounter();

  counter.add({ usage: toRunUsage(usage({ input: 1, output: 1 })), cost: 0.5 });
  counter.add({ usage: toRunUsage(usage({ input: 1, output: 1 })), cost: undefined });
  counter.add({ usage: toRunUsage(usage({ input: 1, output: 1 })), cost: 0.5 });

  expect(counter.cost()).toBeUndefined();
});

test("createUsageCounter() takes an answer whose price is not known for what it is told, and else for more than any limit", () => {
  const counter = createUsageCounter();

  counter.add({ usage: toRunUsage(usage({})), cost: 0.5 });
  counter.add({ usage: toRunUsage(usage({})), cost: undefined, assumedCost: 0.25 });
  const assumed = counter.spent();
  counter.add({ usage: toRunUsage(usage({})), cost: undefined });

  expect(assumed).toBe(0.75);
  expect(counter.spent()).toBe(Infinity);
});

test.for([Number.NaN, -5, Infinity, 1e300, undefined, "7" as unknown as number])(
  "createUsageCounter() takes %s for no tokens, and keeps its sums",
  (tokens) => {
    const counter = createUsageCounter();
    counter.add({ usage: toRunUsage(usage({ input: 10, output: 10 })), cost: 0 });

    const wrong = { input: tokens, cacheRead: tokens, cacheWrite: tokens, output: tokens, reasoning: tokens };
    counter.add({ usage: toRunUsage(usage(wrong)), cost: 0 });

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
