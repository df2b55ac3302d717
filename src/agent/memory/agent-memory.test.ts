import { expect, test } from "vitest";

import { defineSkill } from "../../core/define-skill.ts";
import { defineTool } from "../../core/define-tool.ts";
import type { Store } from "../../core/store.ts";
import type { Tool } from "../../core/tool.ts";
import type { ModelCall } from "../../models/model.ts";
import { memoryStore } from "../../store/memory-store.ts";
import { createRuns } from "../../records/runs/create-runs.ts";
import { mockModel, type MockAnswer, type MockModel } from "../../testing/models/mock-model.ts";
import { createWorkspace } from "../../workspace/create-workspace.ts";
import type { Agent } from "../agent-interface.ts";
import type { AgentOptions } from "../agent-options.ts";
import { createAgent } from "../create-agent.ts";
import type { AgentEvent, MemoryCompacted } from "../events.ts";
import { checkConversation, tokensOf } from "../../../test/support/conversations.ts";

test("run() goes on for as long as it likes within the limits of its memory", async () => {
  const { agent, model } = createWorld({ memory: { maxTokens: 1000, maxMessages: 20 } });
  const events: AgentEvent[] = [];

  const result = await agent.run("Count to 40", { onEvent: (event) => events.push(event) }).result;

  const shown = model.asked.map(({ prompt }) => prompt.filter(({ role }) => role !== "system"));
  expect(result).toMatchObject({ status: "ok", text: "Counted to 40", steps: 41 });
  expect(compactionsIn(events).length).toBeGreaterThan(3);
  for (const prompt of shown) {
    expect(checkConversation(prompt)).toEqual([]);
    expect(tokensOf(prompt)).toBeLessThanOrEqual(1000);
    expect(prompt.length).toBeLessThanOrEqual(20);
    expect(JSON.stringify(prompt)).toContain("Count to 40");
  }
});

test("run() leaves a conversation alone that fits", async () => {
  const { agent, model } = createWorld({ memory: { maxTokens: 100_000 } });
  const events: AgentEvent[] = [];

  await agent.run("Count to 20", { onEvent: (event) => events.push(event) }).result;

  expect(compactionsIn(events)).toEqual([]);
  expect(model.asked.at(-1)?.prompt.filter(({ role }) => role !== "system")).toHaveLength(41);
});

test("run() does not compact again right after it did", async () => {
  const { agent } = createWorld({ memory: { maxTokens: 1000 } });
  const events: AgentEvent[] = [];

  await agent.run("Count to 45", { onEvent: (event) => events.push(event) }).result;

  const steps = compactionsIn(events).map(({ step }) => step);
  expect(steps.length).toBeGreaterThan(2);
  for (const [index, step] of steps.entries()) expect(step - (steps[index - 1] ?? 0)).toBeGreaterThan(2);
});

test("replay() of a run whose memory was compacted is the same", async () => {
  const { agent } = createWorld({ memory: { maxTokens: 1000 } });
  const { run } = await agent.run("Count to 30").result;

  expect(await agent.replay(run)).toEqual({ run, status: "same", steps: 31 });
});

test("resume() goes on with what a compaction left", async () => {
  const world = createWorld({ memory: { maxTokens: 1000 } });
  const run = world.agent.run("Count to 30", {
    onEvent: (event) => event.type === "tool-end" && event.step === 25 && run.stop(),
  });
  const stopped = await run.result;

  const result = await world.restarted().resume(run.id).result;

  expect(stopped).toMatchObject({ status: "stopped", steps: 25 });
  expect(result).toMatchObject({ status: "ok", text: "Counted to 30", steps: 31 });
  expect(world.made).toEqual(Array.from({ length: 30 }, (_, index) => index + 1));
  expect(JSON.stringify(result.messages)).toContain("This is a summary of earlier messages");
  expect(await world.agent.replay(run.id)).toMatchObject({ status: "same" });
});

test("resume() gives no call the id of one that was left out: small models repeat them", async () => {
  let page = 0;
  const model = mockModel(() => (++page > 16 ? "Read" : { calls: [{ tool: "read", id: "call", input: { page } }] }));
  const read = defineTool({
    name: "read",
    description: "Reads a page",
    input: { type: "object", properties: { page: { type: "number" } } },
    run: ({ page: at }) => `Page ${String(at)}. ${"It says this and that. ".repeat(10)}`,
  });
  const workspace = createWorkspace({ tools: [read] });
  const agent = createAgent({ model, workspace, store: memoryStore(), memory: { maxTokens: 600 } });
  const run = agent.run("Read it", {
    onEvent: (event) => event.type === "tool-end" && event.step === 12 && run.stop(),
  });
  await run.result;

  const seen: string[] = [];
  await agent.resume(run.id, {
    onEvent: (event) => void (event.type === "tool-end" && seen.push(event.id)),
  }).result;

  expect(new Set(seen).size).toBe(5);
  expect(seen).not.toContain("call");
  expect(await agent.replay(run.id)).toMatchObject({ status: "same", steps: 17 });
});

test("fork() of a run whose memory was compacted goes on with the task", async () => {
  const { agent, model } = createWorld({ memory: { maxTokens: 1000 } });
  const { run } = await agent.run("Count to 40").result;

  const fork = agent.fork(run, 30, { say: "Go on, please" });
  const result = await fork.result;

  expect(result).toMatchObject({ status: "ok", text: "Counted to 40" });
  expect(JSON.stringify(model.asked.at(-1)?.prompt)).toContain("Count to 40");
});

test("a compaction is in the journal before the model is asked", async () => {
  const { agent, store } = createWorld({ memory: { maxTokens: 1000 } });

  const { run } = await agent.run("Count to 20").result;

  const types = (await createRuns({ store }).read(run, { limit: 10_000 })).map(({ value }) => value.type);
  const index = types.indexOf("memory-compacted");
  expect(types.slice(index - 1, index + 2)).toEqual(["step-outcome", "memory-compacted", "model-answer"]);
});

test.for(["direct", "announce", "dispatch"] as const)(
  "run() keeps the instructions of an open skill through compactions, exposed %s",
  async (exposure) => {
    const { agent, model } = createWorld({ memory: { maxTokens: 1200 }, exposure });

    await agent.run("Open the skill, then count to 40").result;

    const last = JSON.stringify(model.asked.at(-1)?.prompt);
    expect(last).toContain("are left out here");
    expect(last).toContain("Count slowly and carefully.");
    expect(last.split("Count slowly and carefully.")).toHaveLength(2);
  },
);

test("run() tells Anthropic's models of tools however little room there is", async () => {
  const model = mockModel(reply, { provider: "anthropic.messages" });
  const description = "Rests for a while, or for longer than that. ".repeat(50);
  const rest = defineTool({ name: "rest", description, run: () => "Rested" });
  const slow = defineSkill({ name: "slow", description: "Counts", workDirection: "Count slowly.", tools: [rest] });
  const workspace = createWorkspace({ skills: [slow], tools: [count([])] });
  const agent = createAgent({ model, workspace, exposure: "announce", memory: { maxTokens: 400 } });

  const result = await agent.run("Open the skill, then count to 20").result;

  expect(result).toMatchObject({ status: "ok", text: "Counted to 20" });
  expect(JSON.stringify(model.asked.at(-1)?.prompt)).toContain("are left out here");
  expect(JSON.stringify(model.asked.at(-1)?.prompt)).toContain(description);
});

test("run() asks its model for summaries, and counts what they cost", async () => {
  const { agent, model } = createWorld({ memory: { maxTokens: 1000, summarise: "model" } });

  const run = agent.run("Count to 20");
  const events: AgentEvent[] = [];
  for await (const event of run) events.push(event);
  const { usage } = await run.result;

  const made = compactionsIn(events);
  expect(made.map(({ how }) => how)).toEqual(made.map(() => "model"));
  expect(JSON.stringify(made[0]?.messages)).toContain("Counting goes on.");
  expect(usage.modelCalls).toBe(21 + made.length);
  expect(model.asked).toHaveLength(usage.modelCalls);
  expect(run.breakdown().find(({ kind }) => kind === "model")).toMatchObject({
    calls: usage.modelCalls,
    inputTokens: usage.inputTokens,
  });
});

test("resume() counts what summaries cost before", async () => {
  const world = createWorld({ memory: { maxTokens: 1000, summarise: "model" } });
  const run = world.agent.run("Count to 20", {
    onEvent: (event) => event.type === "tool-end" && event.step === 15 && run.stop(),
  });
  await run.result;

  const { usage } = await world.restarted().resume(run.id).result;

  expect(usage.modelCalls).toBe(world.model.asked.length);
});

test("run() asks another model for summaries if it is told to, and goes on if that one fails", async () => {
  const summaryModel = mockModel((call) =>
    JSON.stringify(call.prompt).length % 2 === 0 ? "All is well." : { error: new Error("down") },
  );
  const { agent } = createWorld({ memory: { maxTokens: 1000, summarise: "hybrid", summaryModel }, retries: false });
  const events: AgentEvent[] = [];

  const result = await agent.run("Count to 40", { onEvent: (event) => events.push(event) }).result;

  expect(result).toMatchObject({ status: "ok", text: "Counted to 40" });
  expect(summaryModel.asked.length).toBe(compactionsIn(events).length);
  expect(new Set(compactionsIn(events).map(({ how }) => how))).toEqual(new Set(["hybrid", "extractive"]));
});

test.for([
  ["tokens", { maxTokens: 1500 }],
  ["cost", { maxCost: 0.002 }],
] as const)(
  "run() counts summaries that broke off against its limit of the %s, also when it goes on",
  async ([reason, limits]) => {
    const summaryModel = mockModel(() => ({ text: "Counting", breaks: new Error("gone") }), { provider: "acme" });
    const used = { usage: { input: 1, output: 1 } };
    const model = mockModel((call) => ({ ...(reply(call) as object), ...used }), { provider: "acme" });
    const prices = { "acme/*": { input: 1, output: 1 } };
    const memory = { maxTokens: 1000, summarise: "model", summaryModel } as const;
    const world = createWorld({ model, memory, prices, limits, retries: false });
    const run = world.agent.run("Count to 40", {
      onEvent: (event) => event.type === "memory-compacted" && run.stop(),
    });
    const stopped = await run.result;

    const resumed = world.restarted().resume(run.id);
    const result = await resumed.result;

    expect(stopped).toMatchObject({ status: "stopped", reason: "cancelled" });
    expect(result).toMatchObject({ status: "stopped", reason });
    expect(summaryModel.asked.length).toBeGreaterThan(1);
    expect(result.cost).toBeUndefined();
    // The question in which it was stopped was not answered.
    expect(result.usage.modelCalls).toBe(model.asked.length - 1 + summaryModel.asked.length);
  },
);

test("run() stops while a summary is made", async () => {
  const summaryModel = { ...mockModel([]), doStream: async () => new Promise<never>(() => undefined) };
  const { agent } = createWorld({ memory: { maxTokens: 1000, summarise: "model", summaryModel }, retries: false });
  const run = agent.run("Count to 40", {
    onEvent: (event) => event.type === "step-start" && event.step === 12 && setTimeout(() => run.stop(), 20),
  });

  expect(await run.result).toMatchObject({ status: "stopped", reason: "cancelled" });
});

test("run() is given a task that is longer than the window", async () => {
  const { agent, model } = createWorld({ memory: { maxTokens: 1000 } });

  const { status } = await agent.run(`Count to 3. ${"And be patient. ".repeat(5000)}`).result;

  expect(status).toBe("ok");
  expect(tokensOf(model.asked[0]?.prompt.filter(({ role }) => role !== "system") ?? [])).toBeLessThanOrEqual(1000);
});

test("createAgent() refuses options of memory that make no sense", () => {
  expect(() => createWorld({ memory: { maxTokens: 1 } })).toThrow(expect.objectContaining({ code: "option-invalid" }));
});

function compactionsIn(events: readonly AgentEvent[]): readonly MemoryCompacted[] {
  return events.filter((event) => event.type === "memory-compacted");
}

interface World {
  readonly agent: Agent;
  readonly model: MockModel;
  readonly store: Store;
  readonly made: number[];
  restarted(): Agent;
}

/** A model that looks only at what it is shown, and a tool that counts. */
function createWorld(options: Partial<AgentOptions>): World {
  const store = memoryStore();
  const made: number[] = [];
  const model = mockModel(reply);
  const slow = defineSkill({
    name: "slow",
    description: "Counts slowly",
    workDirection: "Count slowly and carefully.",
    tools: [defineTool({ name: "rest", description: "Rests", run: () => "Rested" })],
  });
  const restarted = (): Agent =>
    createAgent({ model, store, workspace: createWorkspace({ tools: [count(made)], skills: [slow] }), ...options });
  return { agent: restarted(), model, store, made, restarted };
}

function count(made: number[]): Tool {
  return defineTool({
    name: "count",
    description: "Counts",
    input: { type: "object", properties: { to: { type: "number" } }, required: ["to"] },
    run({ to }) {
      made.push(Number(to));
      return `Counted to ${to as number}, and ${"so on and ".repeat(8)}`;
    },
  });
}

function reply({ prompt, tools = [] }: ModelCall): MockAnswer {
  const text = JSON.stringify(prompt);
  if (text.includes("You shorten")) return "Counting goes on.";
  if (text.includes("Open the skill") && !text.includes("Count slowly")) {
    return { calls: [{ tool: "activate_skill", input: { name: "slow" } }] };
  }
  const target = Number(/[Cc]ount to (\d+)/u.exec(text)?.[1] ?? 0);
  const counted = [...text.matchAll(/Counted to (\d+)/gu)].map(([, number]) => Number(number));
  const to = Math.max(0, ...counted) + 1;
  if (to > target) return `Counted to ${target}`;
  if (tools.some(({ name }) => name === "count")) return { calls: [{ tool: "count", input: { to } }] };
  return { calls: [{ tool: "call_tool", input: { name: "count", input: { to } } }] };
}
