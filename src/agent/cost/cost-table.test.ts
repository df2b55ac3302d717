import { expect, test } from "vitest";

import { defineSkill } from "../../core/define-skill.ts";
import { defineTool } from "../../core/define-tool.ts";
import { createRuns } from "../../records/runs/create-runs.ts";
import { memoryStore } from "../../store/memory-store.ts";
import { mockModel } from "../../testing/models/mock-model.ts";
import { createWorkspace } from "../../workspace/create-workspace.ts";
import type { AgentOptions } from "../agent-options.ts";
import { createAgent } from "../create-agent.ts";
import { readRunCosts, toCostRows } from "./cost-table.ts";
import type { CostRow, Question } from "./usage-counter.ts";

type MockScript = Parameters<typeof mockModel>[0];

const usage = { input: 1000, output: 100 };
const task = "Look up what the weather in Rome is like";
const script: MockScript = [
  { calls: [{ tool: "activate_skill", input: { name: "weather" } }], usage },
  { text: "I look.", calls: [{ tool: "weather__look", input: { city: "Rome" } }], usage },
  { calls: [{ tool: "weather__look", input: { city: "Ostia" } }], usage },
  { text: "It is warm in Rome, and in Ostia too.", usage: { input: 1234, output: 77 } },
];

test("breakdown() has a row of what the provider counted, and rows that divide exactly that", async () => {
  const { agent } = createTestAgent(script);
  const run = agent.run(task);
  await run.result;

  const [model, ...parts] = run.breakdown();

  expect(model).toMatchObject({ kind: "model", name: "acme/m", calls: 4, inputTokens: 4234, outputTokens: 377 });
  expect(model).toMatchObject({ isEstimate: false, cost: run.cost });
  expect(sum(parts, "inputTokens")).toBe(run.usage.inputTokens);
  expect(sum(parts, "outputTokens")).toBe(run.usage.outputTokens);
  expect(sum(parts, "calls")).toBe(run.usage.toolCalls);
  expect(sum(parts, "cost")).toBeCloseTo(run.cost ?? Number.NaN, 12);
  expect(parts.every(({ isEstimate }) => isEstimate)).toBe(true);
});

test("breakdown() puts down tokens to the instructions, the conversation, the skill and the tools", async () => {
  const { agent } = createTestAgent(script);
  const run = agent.run(task);
  await run.result;

  const rows = run.breakdown();

  const facts = rows.slice(1).map(({ kind, name, skill, calls }) => ({ kind, name, skill, calls }));
  expect(facts.toSorted((left, right) => (left.name < right.name ? -1 : 1))).toEqual([
    { kind: "conversation", name: "conversation", skill: undefined, calls: 0 },
    { kind: "instructions", name: "instructions", skill: undefined, calls: 0 },
    { kind: "tool", name: "unused", skill: undefined, calls: 0 },
    { kind: "skill", name: "weather", skill: undefined, calls: 1 },
    { kind: "tool", name: "weather/look", skill: "weather", calls: 2 },
  ]);
  expect(find(rows, "unused")).toMatchObject({ resultTokens: 0, outputTokens: 0 });
  expect(find(rows, "unused").schemaTokens).toBe(find(rows, "unused").inputTokens);
  expect(find(rows, "weather").resultTokens).toBeGreaterThan(find(rows, "weather/look").resultTokens);
  expect(find(rows, "weather/look").schemaTokens).toBeGreaterThan(0);
  expect(find(rows, "weather/look").outputTokens).toBeGreaterThan(0);
});

test("breakdown() counts a result with each question after it", async () => {
  const answers = (count: number): MockScript => [
    { calls: [{ tool: "unused" }], usage },
    ...Array.from({ length: count }, () => ({ calls: [{ tool: "weather__look", input: { city: "Rome" } }], usage })),
    { text: "Done", usage },
  ];
  const resultsOf = async (count: number): Promise<number> => {
    const run = createTestAgent(answers(count)).agent.run(task);
    await run.result;
    return find(run.breakdown(), "unused").resultTokens;
  };

  const [one, four] = [await resultsOf(1), await resultsOf(4)];

  expect(four).toBeGreaterThan(one * 1.8);
});

test("breakdown() has no costs of parts when one price is not known, and those of models that are", async () => {
  const { agent } = createTestAgent([{ text: "Hello", usage }], { prices: {} });
  const run = agent.run(task);
  await run.result;

  expect(run.breakdown().filter((row) => "cost" in row)).toEqual([]);
});

test("breakdown() is there before anything was asked, and of a run that failed", async () => {
  const run = createTestAgent([{ error: new Error("broken") }]).agent.run(task);
  const before = run.breakdown();

  await run.result;

  expect([before, run.breakdown()]).toEqual([[], []]);
});

test("breakdown() of a run that was gone on with has what was used before", async () => {
  const store = memoryStore();
  const first = createTestAgent([{ calls: [{ tool: "unused" }], usage }], { store }).agent;
  const stopped = first.run(task, { id: "again", onEvent: ({ type }) => type === "tool-end" && stopped.stop() });
  await stopped.result;
  const { agent } = createTestAgent([{ text: "Done", usage }], { store });

  const run = agent.resume("again");
  const result = await run.result;

  const [model, ...parts] = run.breakdown();
  expect(result).toMatchObject({ status: "ok", usage: { modelCalls: 2 } });
  expect(model).toMatchObject({ calls: 2, inputTokens: 2000, outputTokens: 200 });
  expect(sum(parts, "inputTokens")).toBe(2000);
});

test("readRunCosts() says the same of a journal, with the definitions of tools among the instructions", async () => {
  const store = memoryStore();
  const { agent } = createTestAgent(script, { store });
  const run = agent.run(task);
  await run.result;

  const rows = readRunCosts(await createRuns({ store }).read(run.id));

  const live = run.breakdown();
  expect(rows[0]).toEqual(live[0]);
  expect(sum(rows.slice(1), "inputTokens")).toBe(run.usage.inputTokens);
  expect(sum(rows.slice(1), "outputTokens")).toBe(run.usage.outputTokens);
  expect(sum(rows.slice(1), "cost")).toBeCloseTo(run.cost ?? Number.NaN, 12);
  for (const name of ["weather", "weather/look"]) {
    expect(find(rows, name)).toMatchObject({
      calls: find(live, name).calls,
      outputTokens: find(live, name).outputTokens,
    });
  }
  expect(sum(rows, "schemaTokens")).toBe(0);
});

test("readRunCosts() counts what a model used that was asked for a summary", async () => {
  const store = memoryStore();
  const run = createTestAgent([{ text: "Hello", usage }], { store }).agent.run(task);
  await run.result;
  const entries = await createRuns({ store }).read(run.id);
  const { usage: used } = question([]).answer;
  const messages = [{ role: "user", content: [] }];
  const answer = { model: "acme/small", usage: used, cost: 0.5 };
  const value = { type: "memory-compacted", step: 1, messages, answer };

  const rows = readRunCosts([...entries, { position: entries.length + 1, time: 0, value } as never]);

  expect(rows.filter(({ kind }) => kind === "model").map(({ name, inputTokens }) => [name, inputTokens])).toEqual([
    ["acme/m", 1000],
    ["acme/small", 1000],
  ]);
  expect(sum(rows.slice(2), "inputTokens")).toBe(2000);
});

test("readRunCosts() refuses what is no journal of an agent", () => {
  expect(() => readRunCosts([])).toThrow(expect.objectContaining({ code: "run-not-found" }));
});

test("toCostRows() puts calls through call_tool down to the tool, and odd ones to what was asked for", () => {
  const calls = [
    { toolName: "call_tool", input: '{"name":"pdf/extract","input":{}}' },
    { toolName: "call_tool", input: '{"name":"pdf__extract"}' },
    { toolName: "call_tool", input: "no JSON" },
    { toolName: "activate_skill", input: "{}" },
    { toolName: "read_skill_file", input: '{"skill":"pdf","path":"a.md"}' },
    { toolName: "__proto__", input: "null" },
    { toolName: "_x__y__z", input: "" },
    { toolName: "a_b__c", input: "" },
  ];

  const rows = toCostRows([question(calls)]);

  const named = rows
    .filter(({ calls: count }) => count > 0)
    .map(({ kind, name, skill, calls: count }) => [kind, name, skill, count]);
  expect(named).toEqual([
    ["model", "acme/m", undefined, 1],
    ["tool", "pdf/extract", "pdf", 2],
    ["tool", "call_tool", undefined, 1],
    ["tool", "activate_skill", undefined, 1],
    ["skill", "pdf", undefined, 1],
    ["tool", "__proto__", undefined, 1],
    ["tool", "_x__y__z", undefined, 1],
    ["tool", "a_b/c", "a_b", 1],
  ]);
});

test("toCostRows() puts a question for a summary down to the conversation", () => {
  const asked = question([]);

  const rows = toCostRows([{ ...asked, messages: [], count: 0 }]);

  expect(rows[1]).toMatchObject({ kind: "conversation", inputTokens: 1000, outputTokens: 100 });
  expect(rows[1]?.cost).toBeCloseTo(0.01, 12);
  expect(rows).toHaveLength(2);
});

test.for([undefined, Number.NaN, -1, Infinity])("toCostRows() takes a usage of %s for no tokens", (total) => {
  const counts = { total, noCache: undefined, cacheRead: undefined, cacheWrite: undefined };
  const strange = { inputTokens: counts, outputTokens: { total, text: undefined, reasoning: undefined } };
  const asked = question([{ toolName: "a", input: "{}" }]);

  const rows = toCostRows([{ ...asked, answer: { ...asked.answer, usage: strange } }]);

  expect(sum(rows, "inputTokens") + sum(rows, "outputTokens")).toBe(0);
  expect(rows.map(({ cost }) => cost)).toEqual([0.01, 0, 0]);
});

function createTestAgent(
  answers: MockScript,
  options: Partial<AgentOptions> = {},
): { agent: ReturnType<typeof createAgent> } {
  const look = defineTool({
    name: "look",
    description: "Looks up what the weather is like in a city",
    input: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
    run: ({ city }) => `It is warm in ${String(city)}`,
  });
  const unused = defineTool({
    name: "unused",
    description: "Is not used, and is long for that reason",
    run: () => "something",
  });
  const workDirection =
    "Look up cities one by one. Say degrees if you know them, and say where you know it from. ".repeat(10);
  const weather = defineSkill({ name: "weather", description: "Tells the weather", workDirection, tools: [look] });
  const workspace = createWorkspace({ tools: [unused], skills: [weather] });
  const model = mockModel(answers, { provider: "acme", modelId: "m" });
  const prices = { "acme/*": { input: 3, output: 15 } };
  return {
    agent: createAgent({ model, workspace, prices, exposure: "direct", instructions: "Be brief.", ...options }),
  };
}

function question(calls: readonly { readonly toolName: string; readonly input: string }[]): Question {
  const content = calls.map((call, index) => ({ type: "tool-call", toolCallId: `${index}`, ...call }) as const);
  const counts = { total: 1000, noCache: 1000, cacheRead: 0, cacheWrite: 0 };
  const used = { inputTokens: counts, outputTokens: { total: 100, text: 100, reasoning: 0 } };
  const messages = [{ role: "user", content: [{ type: "text", text: "Go" }] }] as const;
  return {
    answer: { model: "acme/m", content, usage: used, cost: 0.01 },
    messages: messages as unknown as Question["messages"],
    count: 1,
  };
}

function find(rows: readonly CostRow[], wanted: string): CostRow {
  const row = rows.find(({ name }) => name === wanted);
  if (row === undefined) throw new Error(`no row ${wanted}`);
  return row;
}

function sum(
  rows: readonly CostRow[],
  key: "inputTokens" | "outputTokens" | "schemaTokens" | "calls" | "cost",
): number {
  return rows.reduce((total, row) => total + (row[key] ?? Number.NaN), 0);
}
