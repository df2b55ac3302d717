import { readFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { defineTool } from "../../core/define-tool.ts";
import type { Embedder } from "../../core/embedder.ts";
import type { Store } from "../../core/store.ts";
import { memoryStore } from "../../store/memory-store.ts";
import { type MockAnswer, mockModel } from "../../testing/models/mock-model.ts";
import { createWorkspace } from "../../workspace/create-workspace.ts";
import type { Agent } from "../agent-interface.ts";
import type { AgentOptions } from "../agent-options.ts";
import { createAgent } from "../create-agent.ts";
import type { AgentEvent } from "../events.ts";

test("a question in other words gets the answer of before, visibly and for no tokens", async () => {
  const { agent, model } = createWorld();
  await agent.run("What is the capital of France?").result;
  const events: AgentEvent[] = [];

  const result = await agent.run("tell me what the capital of France is", { onEvent: (event) => events.push(event) })
    .result;

  expect(result).toMatchObject({ status: "ok", text: "Answer 1", usage: { inputTokens: 0, outputTokens: 0 } });
  expect(events.find(({ type }) => type === "model-answer")).toMatchObject({
    recalled: "What is the capital of France?",
  });
  expect(model.asked).toHaveLength(1);
  expect(await agent.replay(result.run)).toMatchObject({ status: "same" });
});

test("no near-miss of the set gets the answer of the other, however near an embedder finds them", async () => {
  const { agent } = createWorld();
  const path = join(import.meta.dirname, "../../../test/fixtures/similar/near-misses.txt");
  const lines = readFileSync(path, "utf8").split("\n");
  const pairs = lines.filter((line) => line !== "" && !line.startsWith("# ")).map((line) => line.split(" | "));

  const hits: unknown[] = [];
  for (const [one = "", other = ""] of pairs) {
    await agent.run(one).result;
    const recalled = await recalledBy(agent, other);
    if (recalled !== undefined && recalled !== other) hits.push([recalled, other]);
  }

  expect(pairs.length).toBeGreaterThanOrEqual(200);
  expect(hits).toEqual([]);
});

test("an answer is for one user, model, instructions, tools in their versions, and settings", async () => {
  const store = memoryStore();
  const { agent } = createWorld({ store });
  await agent.run("Who is on call?", { user: "ada" }).result;
  const tool = (version: string) =>
    createWorkspace({ tools: [defineTool({ name: "look", description: "Looks", version, run: () => 1 })] });
  const withTool = createWorld({ store, workspace: tool("1.0.0") }).agent;
  await withTool.run("Who is on call?", { user: "ada" }).result;

  const ask = (from: Agent, user = "ada"): Promise<unknown> => recalledBy(from, "who's on call", { user });
  expect(await ask(createWorld({ store }).agent)).toBe("Who is on call?");
  expect(await ask(createWorld({ store, workspace: tool("1.0.0") }).agent)).toBe("Who is on call?");
  expect(await ask(createWorld({ store, workspace: tool("2.0.0") }).agent)).toBeUndefined();
  expect(await ask(createWorld({ store }).agent, "bob")).toBeUndefined();
  expect(await ask(createWorld({ store, instructions: "Be rude" }).agent)).toBeUndefined();
  expect(await ask(createWorld({ store, settings: { temperature: 1 } }).agent)).toBeUndefined();
  expect(await ask(createWorld({ store, modelId: "other" }).agent)).toBeUndefined();
});

test("what was answered with a tool, in the middle of a conversation, or cut, is asked again", async () => {
  const answers: MockAnswer[] = [
    { calls: [{ tool: "look" }] },
    "With a tool",
    { calls: [{ tool: "look" }] },
    "Again",
    { text: "Cut", finishReason: "length" },
    "Cut, and the rest",
    "Whole",
    "First",
    "Second",
  ];
  const look = defineTool({ name: "look", description: "Looks", annotations: { readOnly: true }, run: () => 1 });
  const { agent, model } = createWorld({ answers, workspace: createWorkspace({ tools: [look] }) });

  await agent.run("Look at it").result;
  expect(await recalledBy(agent, "look at it!")).toBeUndefined();
  await agent.run("Tell a story").result;
  expect(await recalledBy(agent, "tell a story!")).toBeUndefined();
  await agent.run("Hello Ada", { conversation: "c" }).result;
  await agent.run("Hello Ada", { conversation: "c" }).result;
  expect(model.asked).toHaveLength(9);
});

test("an embedder that fails or finds the questions far apart has the model asked", async () => {
  const far: Embedder = {
    name: "far",
    embed: async () => [
      [1, 0],
      [0, 1],
    ],
  };
  for (const embedder of [far, { name: "broken", embed: () => Promise.reject(new Error("down")) }, few]) {
    const { agent, model } = createWorld({ embedder });
    await agent.run("Who is on call?").result;
    expect(await recalledBy(agent, "who's on call")).toBeUndefined();
    expect(model.asked).toHaveLength(2);
  }
});

test("an answer is forgotten after its time, and what is damaged is no answer", async () => {
  let now = 0;
  const store = memoryStore({ now: () => now });
  const { agent } = createWorld({ store });
  await agent.run("Who is on call?").result;
  const [key = ""] = (await store.kv.list({ prefix: "answer:" })).map(([name]) => name);
  await store.kv.set(key, { said: 7 });
  expect(await recalledBy(agent, "who's on call")).toBeUndefined();

  expect(await recalledBy(agent, "who's on call")).toBe("who's on call");
  now += 60_000;
  expect(await recalledBy(agent, "who's on call")).toBeUndefined();
});

test("createAgent() refuses a cache without an embedder, and wrong options of one", () => {
  const make = (cache: object) => () =>
    createAgent({ model: "local", workspace: createWorkspace(), cache: cache as never });

  expect(make({ ttlMs: 1000 })).toThrow(
    'Cannot use the cache of answers: it needs an embedder; pass "embedder" with it, as in toEmbedder("local")',
  );
  expect(make({ ttlMs: 1000, embedder: {} })).toThrow("embedder");
  expect(make({ embedder: blind })).toThrow("cache.ttlMs");
  expect(make({ ttlMs: 1, embedder: blind, threshold: 2 })).toThrow("cache.threshold");
});

async function recalledBy(
  agent: Agent,
  task: string,
  options: { readonly user?: string } = {},
): Promise<string | undefined> {
  let recalled: string | undefined;
  const onEvent = (event: AgentEvent): void => {
    if (event.type === "model-answer") recalled = event.recalled;
  };
  await agent.run(task, { ...options, onEvent }).result;
  return recalled;
}

/** Finds all texts alike: what keeps questions apart is what they say. */
const blind: Embedder = { name: "blind", embed: async (texts) => texts.map(() => [1, 0]) };
const few: Embedder = { name: "few", embed: async () => [[1]] };

interface WorldOptions extends Partial<Omit<AgentOptions, "model" | "cache">> {
  readonly store?: Store;
  readonly embedder?: Embedder;
  readonly modelId?: string;
  readonly answers?: MockAnswer[];
}

function createWorld({ embedder = blind, modelId, answers, ...options }: WorldOptions = {}) {
  let count = 0;
  const model = mockModel(answers ?? (() => `Answer ${(count += 1)}`), { ...(modelId !== undefined && { modelId }) });
  const agent = createAgent({
    model,
    workspace: createWorkspace(),
    store: memoryStore(),
    retries: false,
    cache: { ttlMs: 60_000, embedder },
    ...options,
  });
  return { agent, model };
}
