import { expect, test } from "vitest";

import { defineTool } from "../../core/define-tool.ts";
import type { Account } from "../../core/quotas.ts";
import type { JsonObject } from "../../core/json.ts";
import { createRuns } from "../../records/runs/create-runs.ts";
import { memoryStore } from "../../store/memory-store.ts";
import { mockModel, type MockScript } from "../../testing/models/mock-model.ts";
import { createWorkspace } from "../../workspace/create-workspace.ts";
import type { QuotaOptions } from "../../workspace/quotas/quota-options.ts";
import type { AgentOptions } from "../agent-options.ts";
import { readRunCosts } from "../cost/cost-table.ts";
import { renderCosts } from "../cost/render-costs.ts";
import { createAgent } from "../create-agent.ts";
import type { AgentEvent } from "../events.ts";

const prices = { "acme/m": { input: 1, output: 10 } };
const usage = { input: 1000, output: 100 };

test("what a tool says that it paid counts in the cost of the run and of the agent", async () => {
  const { agent } = setUp([ask("pay", "pay"), done]);

  const run = agent.run("Go");
  const events: AgentEvent[] = [];
  for await (const event of run) events.push(event);
  const result = await run.result;

  // Two answers of $0.002 each, and twice $1.25.
  expect(result.cost).toBeCloseTo(2.504);
  expect([run.cost, agent.totalCost]).toEqual([result.cost, result.cost]);
  expect(events.filter(({ type }) => type === "call-spent" || type === "tool-end")).toMatchObject([
    { type: "call-spent", call: "1.0", tool: "pay", cost: 1.25 },
    { type: "tool-end" },
    { type: "call-spent", call: "1.1", tool: "pay", cost: 1.25 },
    { type: "tool-end" },
  ]);
});

test("what a tool pays in pieces, and what tools pay that it calls, is one line of the journal", async () => {
  const { agent, lines } = setUp([ask("outer"), done]);

  const { run, cost } = await agent.run("Go").result;

  expect((await lines(run)).filter(({ type }) => type === "call-spent")).toEqual([
    { type: "call-spent", run, step: 1, call: "1.0", id: "call-0-0", tool: "outer", cost: 1.5 },
  ]);
  expect(cost).toBeCloseTo(1.504);
});

test("a run stops when tools have spent its maxCost, and begins no further call", async () => {
  const { agent, paid } = setUp([ask("pay", "pay", "pay"), done], { limits: { maxCost: 2 } });

  const result = await agent.run("Go").result;

  expect(result).toMatchObject({ status: "stopped", reason: "cost", steps: 1 });
  expect(paid()).toBe(2);
});

test("a run stops before its next question when a tool has spent its maxCost", async () => {
  const { agent } = setUp([ask("pay"), done], { limits: { maxCost: 1 } });

  expect(await agent.run("Go").result).toMatchObject({ status: "stopped", reason: "cost", steps: 1 });
});

test("a run counts what its tools have paid after it is resumed, and a fork what it copies", async () => {
  const { agent } = setUp([ask("pay"), ask("look"), done, done]);
  const first = agent.run("Go", {
    id: "a",
    onEvent: (event) => event.type === "tool-start" && event.tool === "look" && first.stop(),
  });
  await first.result;

  const resumed = await agent.resume("a", { limits: { maxCost: 5 } }).result;
  const fork = await agent.fork("a", 1).result;

  expect(resumed).toMatchObject({ status: "ok", steps: 3 });
  expect(resumed.cost).toBeCloseTo(1.256);
  expect(fork.cost).toBeCloseTo(1.254);
  expect((await agent.replay("a")).status).toBe("same");
});

test("what a tool paid is a row of the breakdown, which adds up to the cost; a journal says the same", async () => {
  const { agent, store } = setUp([ask("pay", "pay"), done]);
  const run = agent.run("Go");
  const { cost = 0 } = await run.result;

  const rows = run.breakdown();

  expect(rows.filter(({ isEstimate }) => !isEstimate)).toMatchObject([
    { kind: "model", name: "acme/m", calls: 2 },
    { kind: "service", name: "pay", calls: 2, inputTokens: 0, cost: 2.5 },
  ]);
  expect(renderCosts(rows).find(({ kind }) => kind === "total")?.cost).toBeCloseTo(cost);
  const kept = readRunCosts(await createRuns({ store }).read(run.id));
  expect(kept.find(({ kind }) => kind === "service")).toEqual(rows.find(({ kind }) => kind === "service"));
});

test("what a tool pays counts towards the dollars of its user, whoever calls it", async () => {
  const { agent, workspace } = setUp([ask("pay"), done], {}, { each: { dollars: 100 } });
  const { quotas } = workspace;

  await agent.run("Go", { user: "ann" }).result;
  await workspace.call("pay", {}, { user: "ann" });

  // Nothing is left but what both have not used.
  await expect(quotas.spend(quotas.of("ann") as Account, "dollars", 99)).rejects.toMatchObject({
    details: { used: expect.closeTo(2.504) as number },
  });
});

function ask(...tools: readonly string[]): { readonly calls: readonly { readonly tool: string }[]; usage: object } {
  return { calls: tools.map((tool) => ({ tool })), usage };
}

const done = { text: "Done", usage };

function setUp(script: MockScript, options: Partial<AgentOptions> = {}, quotas: QuotaOptions = {}) {
  const store = memoryStore();
  let paid = 0;
  const pay = defineTool({
    name: "pay",
    description: "Pays",
    run(_input, { spend }) {
      paid += 1;
      spend(1.25);
    },
  });
  const outer = defineTool({
    name: "outer",
    description: "Has another one pay",
    async run(_input, { call, spend }) {
      spend(0.125);
      await call("pay", {});
      spend(0.125);
    },
  });
  const look = defineTool({
    name: "look",
    description: "Looks",
    annotations: { readOnly: true },
    run: () => new Promise((resolve) => setTimeout(resolve, 5)),
  });
  const workspace = createWorkspace({ tools: [pay, outer, look], store, quotas });
  const model = mockModel(script, { provider: "acme", modelId: "m" });
  const agent = createAgent({ model, workspace, store, prices, ...options });
  const lines = async (run: string): Promise<readonly JsonObject[]> =>
    (await createRuns({ store }).read(run)).map(({ value }) => value);
  return { agent, workspace, store, lines, paid: () => paid };
}
