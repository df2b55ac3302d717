import { expect, test } from "vitest";

import { defineTool } from "../../core/define-tool.ts";
import { mockModel, type MockModel } from "../../testing/models/mock-model.ts";
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

test("checkLimits() lets no question be asked behind a summary that went over the limit", async () => {
  const usage = { input: 1000, output: 100_000 };
  const { result, model, summaries, askedBefore } = await summarise("acme/m", usage);

  expect(summaries.asked).toHaveLength(1);
  expect(result).toMatchObject({ status: "stopped", reason: "cost", cost: expect.closeTo(1.001 + 1e-6 * 4, 4) });
  expect(askedBefore).toEqual([model.asked.length]);
});

test.for<[what: string, model: string]>([
  ["whose price nobody knows", "nobody/m"],
  ["that costs more for sure than what is left", "acme/dear"],
])("a run with a limit of its cost asks no model for summaries %s", async ([, name]) => {
  const { result, summaries, hows } = await summarise(name);

  expect(summaries.asked).toEqual([]);
  expect(hows).toContain("extractive");
  expect(result.cost).toBeDefined();
});

/** A run whose memory is compacted, with a model for summaries and a limit of the cost. */
async function summarise(
  name: string,
  usage = { input: 1, output: 1 },
): Promise<{
  readonly result: RunResult;
  readonly model: MockModel;
  readonly summaries: MockModel;
  readonly hows: readonly string[];
  /** How often the model of the run had been asked when it was asked for a summary. */
  readonly askedBefore: readonly number[];
}> {
  let page = 0;
  const askedBefore: number[] = [];
  const small = { input: 1, output: 0 };
  const model = mockModel(() => (++page > 10 ? "Read" : { calls: [{ tool: "read", input: { page } }], usage: small }), {
    provider: "acme",
    modelId: "m",
  });
  const [provider = "", modelId = ""] = name.split("/");
  const summaries = mockModel(
    () => {
      askedBefore.push(model.asked.length);
      return { text: "In short", usage };
    },
    { provider, modelId },
  );
  const input = { type: "object", properties: { page: { type: "number" } } } as const;
  const read = defineTool({
    name: "read",
    description: "Reads",
    input,
    run: ({ page: at }) => `${String(at)}. ` + "It says this and that. ".repeat(20),
  });
  const hows: string[] = [];
  const result = await createAgent({
    model,
    workspace: createWorkspace({ tools: [read] }),
    prices: { "acme/m": { input: 1, output: 10, cacheRead: 0.2 }, "acme/dear": { input: 9000, output: 9000 } },
    limits: { maxCost: 0.5 },
    memory: { maxTokens: 600, summarise: "model", summaryModel: summaries },
  }).run("Read it", { onEvent: (event) => void (event.type === "memory-compacted" && hows.push(event.how)) }).result;
  return { result, model, summaries, hows, askedBefore };
}

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
