import { expect, test } from "vitest";

import { memoryStore } from "../../store/memory-store.ts";
import { mockModel } from "../../testing/models/mock-model.ts";
import { createWorkspace } from "../../workspace/create-workspace.ts";
import type { QuotaOptions } from "../../workspace/quotas/quota-options.ts";
import type { Account } from "../../core/quotas.ts";
import type { Quotas } from "../../workspace/quotas/quotas.ts";
import type { Agent } from "../agent-interface.ts";
import { createAgent } from "../create-agent.ts";

const prices = { "acme/m": { input: 1, output: 10 } };
const usage = { input: 1000, output: 100 };

test("a run ends when its user has used the model tokens of the day, and says which quota it was", async () => {
  const { agent, model } = setUp({ each: { tokens: 2000 } });

  const first = await agent.run("Go", { user: "ann" }).result;
  const second = await agent.run("Go", { user: "ann" }).result;
  const third = await agent.run("Go", { user: "ann" }).result;
  const other = await agent.run("Go", { user: "bob" }).result;

  expect([first.status, second.status, other.status]).toEqual(["ok", "ok", "ok"]);
  expect(third).toMatchObject({
    status: "failed",
    error: { code: "quota-reached", details: { user: "ann", quota: "tokens", limit: 2000, used: 2200 } },
  });
  expect(model.asked).toHaveLength(3);
});

test("runs at once of one user go over a quota in dollars by no more than their one answer", async () => {
  const { agent, model } = setUp({ each: { dollars: 0.003 } });

  for (let index = 0; index < 5; index++) await agent.run("Go", { user: "ann" }).result;

  // Each costs 0.002.
  expect(model.asked).toHaveLength(2);
});

test("a summary of an earlier part of the conversation is paid, too", async () => {
  const summaries = mockModel(() => ({ text: "Short", usage }), { provider: "acme", modelId: "m" });
  const { agent, quotas } = setUp(
    { each: { tokens: 100_000 } },
    { memory: { summarise: "model", summaryModel: summaries, maxTokens: 300 } },
  );
  const messages = Array.from({ length: 41 }, (_, index) => ({
    role: index % 2 === 0 ? ("user" as const) : ("assistant" as const),
    content: [{ type: "text" as const, text: `${index} ${"word ".repeat(50)}` }],
  }));

  await agent.run(messages, { user: "ann" }).result;

  expect(summaries.asked.length).toBeGreaterThan(0);
  await expect(quotas.spend(quotas.of("ann") as Account, "tokens", 100_000 - 2199)).rejects.toMatchObject({
    details: { used: 1100 * (1 + summaries.asked.length) },
  });
});

test("a run whose user has a quota in dollars needs a model with a price", async () => {
  const { agent, model } = setUp({ each: { dollars: 1 } }, { prices: {} });

  expect(await agent.run("Go", { user: "ann" }).result).toMatchObject({
    status: "failed",
    error: { code: "price-unknown" },
  });
  expect((await agent.run("Go").result).status).toBe("ok");
  expect(model.asked).toHaveLength(1);
});

interface Stage {
  readonly agent: Agent;
  readonly quotas: Quotas;
  readonly model: ReturnType<typeof mockModel>;
}

function setUp(quotas: QuotaOptions, options: Partial<Parameters<typeof createAgent>[0]> = {}): Stage {
  const model = mockModel(() => ({ text: "Done", usage }), { provider: "acme", modelId: "m" });
  const workspace = createWorkspace({ store: memoryStore(), quotas });
  return { agent: createAgent({ model, workspace, prices, ...options }), quotas: workspace.quotas, model };
}
