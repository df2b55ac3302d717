import { expect, test } from "vitest";

import { defineTool } from "../../core/define-tool.ts";
import { KitbagError } from "../../core/errors.ts";
import { fallback } from "../../models/route/fallback.ts";
import { mockModel } from "../../testing/models/mock-model.ts";
import { createWorkspace } from "../../workspace/create-workspace.ts";
import { createAgent } from "../create-agent.ts";

// The first in this file: nobody has loaded prices yet.
test("a limit of the cost holds where one that costs something answers in the place of one that costs nothing", async () => {
  const first = mockModel(() => ({ refused: { status: 500 } }), { provider: "ollama", modelId: "qwen3" });
  const usage = { input: 100_000, output: 0 };
  const second = mockModel(() => ({ text: "Hello", usage }), {
    provider: "anthropic.messages",
    modelId: "claude-sonnet-4-5",
  });
  const model = fallback([first, second]);
  const agent = createAgent({ model, workspace: createWorkspace(), retries: false, limits: { maxCost: 1 } });

  const result = await agent.run("Hello").result;

  expect(result).toMatchObject({ status: "ok", text: "Hello" });
  expect(result.cost).toBeCloseTo(0.3, 12);
});

test("a summary costs what the model costs that made it in the place of another", async () => {
  const first = mockModel(() => ({ refused: { status: 500 } }), { provider: "acme", modelId: "free" });
  let page = 0;
  const second = mockModel(
    ({ tools }) => {
      if (tools === undefined) return { text: "Pages were read", usage: { input: 1000, output: 0 } };
      return { usage: { input: 0, output: 0 }, ...(++page > 8 ? { text: "Read" } : { calls: [{ tool: "read" }] }) };
    },
    { provider: "acme", modelId: "paid" },
  );
  const read = defineTool({ name: "read", description: "Reads", run: () => `Page ${page}: ${"words ".repeat(300)}` });
  const agent = createAgent({
    model: fallback([first, second]),
    workspace: createWorkspace({ tools: [read] }),
    retries: false,
    prices: { "acme/free": { input: 0, output: 0 }, "acme/paid": { input: 10, output: 10 } },
    memory: { maxTokens: 1200, summarise: "model" },
  });
  const makers = new Set<string | undefined>();

  const run = agent.run("Read the book", {
    onEvent: (event) => event.type === "memory-compacted" && makers.add(event.answer?.model),
  });
  const { status, usage } = await run.result;

  expect(status).toBe("ok");
  expect([...makers]).toEqual(["acme/paid"]);
  expect(run.cost).toBeCloseTo((usage.inputTokens * 10) / 1_000_000, 12);
  expect(run.cost).toBeGreaterThan(0);
});

test("run.cost is what the model costs that answered in the place of another", async () => {
  const error = new KitbagError("model-unavailable", { model: "openai/gpt-4o", reason: "it is down" });
  const first = mockModel(() => ({ error }), { provider: "openai.chat", modelId: "gpt-4o" });
  const usage = { input: 100_000, output: 0 };
  const second = mockModel([{ text: "Hello", usage }], {
    provider: "anthropic.messages",
    modelId: "claude-sonnet-4-5",
  });
  const agent = createAgent({ model: fallback([first, second]), workspace: createWorkspace(), retries: false });

  const run = agent.run("Hello");
  const result = await run.result;

  expect(result).toMatchObject({ status: "ok", text: "Hello" });
  expect(run.cost).toBeCloseTo(0.3, 12);
  expect(agent.totalCost).toBeCloseTo(0.3, 12);
  expect(run.breakdown()[0]?.name).toBe("anthropic/claude-sonnet-4-5");
});
