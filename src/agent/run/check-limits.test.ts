import { expect, test } from "vitest";

import { mockModel } from "../../testing/models/mock-model.ts";
import { createWorkspace } from "../../workspace/create-workspace.ts";
import { createAgent } from "../create-agent.ts";
import type { RunResult } from "../run-result.ts";

type MockScript = Parameters<typeof mockModel>[0];

const text = "word ".repeat(10_000);

test("checkLimits() lets no question be asked that costs too much for sure", async () => {
  const { result, asked } = await runWith(["Hello"], { maxCost: 0.005, prompt: text });

  expect(result).toMatchObject({ status: "stopped", reason: "cost", steps: 0, cost: 0 });
  expect(asked).toBe(0);
});

test("checkLimits() lets a question be asked that costs too much only without a cache", async () => {
  const { result } = await runWith([{ text: "Hello", usage: { input: 10_000, output: 1 } }], {
    maxCost: 0.005,
    prompt: text,
    cacheRead: 0.1,
  });

  expect(result).toMatchObject({ status: "ok", steps: 1 });
});

test("checkLimits() lets the last answer go over the limit, and nothing after it", async () => {
  const call = { calls: [{ tool: "missing" }], usage: { input: 1000, output: 6000 } };

  const { result, asked } = await runWith([call, call, call], { maxCost: 0.01 });

  expect(result).toMatchObject({ status: "stopped", reason: "cost", steps: 1, cost: 0.061 });
  expect(asked).toBe(1);
});

test("checkLimits() takes an answer whose usage nobody tells for what it must have cost", async () => {
  const silent = { calls: [{ tool: "missing", input: { text } }], usage: { input: Number.NaN, output: Number.NaN } };

  const { result } = await runWith([silent, silent], { maxCost: 0.05 });

  expect(result).toMatchObject({ status: "stopped", reason: "cost", steps: 1 });
  expect(result.cost).toBeUndefined();
});

test("checkLimits() does not stop a run for one short answer whose usage nobody tells", async () => {
  const silent = { calls: [{ tool: "missing" }], usage: { input: Number.NaN, output: Number.NaN } };

  const { result } = await runWith([silent, "Done"], { maxCost: 0.05 });

  expect(result).toMatchObject({ status: "ok", steps: 2 });
});

interface Given {
  readonly maxCost: number;
  readonly prompt?: string;
  readonly cacheRead?: number;
}

async function runWith(
  script: MockScript,
  { maxCost, prompt = "Go", cacheRead = 1 }: Given,
): Promise<{ readonly result: RunResult; readonly asked: number }> {
  const model = mockModel(script, { provider: "acme", modelId: "m" });
  const prices = { "acme/m": { input: 1, output: 10, cacheRead } };
  const agent = createAgent({ model, workspace: createWorkspace(), prices, limits: { maxCost } });
  const result = await agent.run(prompt).result;
  return { result, asked: model.asked.length };
}
