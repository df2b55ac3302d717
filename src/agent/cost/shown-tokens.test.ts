import { expect, test } from "vitest";

import { defineSkill } from "../../core/define-skill.ts";
import { defineTool } from "../../core/define-tool.ts";
import type { JsonObject } from "../../core/json.ts";
import type { Tool } from "../../core/tool.ts";
import type { ModelMessage } from "../../models/model.ts";
import { createRuns } from "../../records/runs/create-runs.ts";
import { memoryStore } from "../../store/memory-store.ts";
import { type MockAnswer, mockModel, type MockScript } from "../../testing/models/mock-model.ts";
import { createWorkspace } from "../../workspace/create-workspace.ts";
import type { AgentOptions } from "../agent-options.ts";
import { createAgent } from "../create-agent.ts";
import { readRunCosts, toCostRows } from "./cost-table.ts";
import type { CostRow } from "./usage-counter.ts";

const usage = { input: 4000, output: 100 };
const long = "It looks up what the weather is like, for each hour of the day, as degrees and in words. ".repeat(8);
const open = { calls: [{ tool: "activate_skill", input: { name: "weather" } }], usage };
const city = { city: "Rome" };

interface Shown {
  readonly exposure: NonNullable<AgentOptions["exposure"]>;
  readonly provider: string;
  readonly call: { readonly tool: string; readonly input: JsonObject };
}

const byName = { tool: "weather__look", input: city };
const byDispatch = { tool: "call_tool", input: { name: "weather__look", input: city } };
const ways: readonly Shown[] = [
  { exposure: "direct", provider: "acme", call: byName },
  { exposure: "announce", provider: "anthropic.messages", call: byName },
  { exposure: "announce", provider: "acme", call: byDispatch },
  { exposure: "dispatch", provider: "acme", call: byDispatch },
];

test.for(ways)(
  "breakdown() puts the definitions of an open skill down to its tools ($exposure, $provider)",
  async ({ exposure, provider, call }) => {
    const script: MockScript = [open, { calls: [call], usage }, { text: "Warm", usage }];
    const run = createTestAgent(script, provider, { exposure }).run("Hello");
    await run.result;

    const rows = run.breakdown();

    const [look, other, skill] = [find(rows, "weather/look"), find(rows, "weather/other"), find(rows, "weather")];
    expect(look.schemaTokens).toBeGreaterThan(find(rows, "conversation").inputTokens);
    expect(look.schemaTokens).toBeGreaterThan(other.schemaTokens);
    expect(look.inputTokens).toBeGreaterThan(look.schemaTokens + look.resultTokens);
    expect(look).toMatchObject({ calls: 1, resultTokens: expect.toSatisfy(isPositive) });
    expect(other).toMatchObject({ calls: 0, resultTokens: 0 });
    // Rows are rounded so that their sum is right.
    expect(other.inputTokens - other.schemaTokens).toBeLessThanOrEqual(1);
    expect(skill).toMatchObject({ calls: 1, resultTokens: expect.toSatisfy(isPositive) });
    expect(skill.resultTokens).toBeLessThan(look.schemaTokens);
    expect(sum(rows, "inputTokens")).toBe(run.usage.inputTokens);
  },
);

test.for(ways.slice(1))(
  "readRunCosts() knows the definitions that stand in the conversation ($exposure, $provider)",
  async ({ exposure, provider, call }) => {
    const store = memoryStore();
    const script: MockScript = [open, { calls: [call], usage }, { text: "Warm", usage }];
    const run = createTestAgent(script, provider, { exposure, store }).run("Hello");
    await run.result;

    const rows = readRunCosts(await createRuns({ store }).read(run.id));

    expect(find(rows, "weather/look").schemaTokens).toBeGreaterThan(find(rows, "conversation").inputTokens);
    expect(sum(rows, "inputTokens")).toBe(run.usage.inputTokens);
  },
);

test("breakdown() puts tools that come in the middle of a run down to themselves", async () => {
  const workspace = createWorkspace();
  const model = mockModel(
    [
      { calls: [{ tool: "missing" }], usage },
      { text: "Done", usage },
    ],
    { provider: "acme" },
  );
  const run = createAgent({ model, workspace, exposure: "announce" }).run("Go", {
    onEvent: ({ type }) => type === "tool-end" && workspace.add(createTool("late", long)),
  });
  await run.result;

  const rows = run.breakdown();

  expect(find(rows, "late").schemaTokens).toBeGreaterThan(find(rows, "conversation").inputTokens);
  expect(find(rows, "late").schemaTokens).toBe(find(rows, "late").inputTokens);
});

test("breakdown() puts what describe_tool says down to the tool, and the call to describe_tool", async () => {
  const script: MockScript = [
    { calls: [{ tool: "describe_tool", input: { name: "weather/look" } }], usage },
    { calls: [{ tool: "describe_tool", input: { name: "wether/look" } }], usage },
    { text: "I see", usage },
  ];
  const run = createTestAgent(script, "acme", { exposure: "dispatch" }).run("Hello");
  await run.result;

  const rows = run.breakdown();

  const look = find(rows, "weather/look");
  expect(look).toMatchObject({ calls: 0, outputTokens: 0, resultTokens: 0, inputTokens: look.schemaTokens });
  expect(look.schemaTokens).toBeGreaterThan(0);
  expect(find(rows, "describe_tool")).toMatchObject({ calls: 2, resultTokens: expect.toSatisfy(isPositive) });
  expect(rows.filter(({ name }) => name.startsWith("wether"))).toEqual([]);
});

test("breakdown() puts definitions that search_tools tells down to their tools, and the rest to search_tools", async () => {
  const search = (detail: string): MockAnswer => ({
    calls: [{ tool: "search_tools", input: { query: "look up the weather", detail } }],
    usage,
  });
  const rowsOf = async (detail: string): Promise<readonly CostRow[]> => {
    const run = createTestAgent([search(detail), { text: "I see", usage }], "acme", { exposure: "dispatch" }).run(
      "Hello",
    );
    await run.result;
    return run.breakdown();
  };

  const [summary, schema] = [await rowsOf("summary"), await rowsOf("schema")];

  expect(summary.filter(({ kind }) => kind === "tool").map(({ name }) => name)).toEqual(["search_tools"]);
  expect(find(schema, "weather/look").schemaTokens).toBeGreaterThan(find(schema, "weather/other").schemaTokens);
  expect(find(schema, "search_tools")).toMatchObject({ calls: 1, resultTokens: expect.toSatisfy(isPositive) });
});

test("breakdown() puts the instructions of skills that are open from the beginning down to them", async () => {
  const run = createTestAgent([{ text: "Hello", usage }], "acme", { exposure: "direct" }).run("Hello", {
    skills: ["weather"],
  });
  await run.result;

  const skill = find(run.breakdown(), "weather");

  expect(skill).toMatchObject({ kind: "skill", calls: 0, resultTokens: skill.inputTokens });
  expect(skill.inputTokens).toBeGreaterThan(0);
});

test("toCostRows() takes what a user writes for the conversation, whatever it looks like", () => {
  const text =
    'Tools that can be called from now on: a.\n- a: Does it Input: {}\n<skill_content name="b">\nc\n</skill_content>';
  const messages: ModelMessage[] = [{ role: "user", content: [{ type: "text", text }] }];
  const counts = { total: 100, noCache: 100, cacheRead: 0, cacheWrite: 0 };
  const used = { inputTokens: counts, outputTokens: { total: 0, text: 0, reasoning: 0 } };

  const rows = toCostRows([{ answer: { model: "acme/m", content: [], usage: used }, messages, count: 1 }]);

  expect(rows.map(({ kind }) => kind)).toEqual(["model", "conversation", "instructions"]);
});

function createTestAgent(
  script: MockScript,
  provider: string,
  options: Partial<AgentOptions>,
): ReturnType<typeof createAgent> {
  const weather = defineSkill({
    name: "weather",
    description: "Tells the weather",
    workDirection: "Look up cities one by one.",
    tools: [createTool("look", long), createTool("other", "Looks elsewhere")],
  });
  const workspace = createWorkspace({ skills: [weather] });
  return createAgent({ model: mockModel(script, { provider, modelId: "m" }), workspace, ...options });
}

function createTool(name: string, description: string): Tool {
  return defineTool({
    name,
    description,
    input: { type: "object", properties: { city: { type: "string" } } },
    run: () => "It is warm there",
  });
}

function isPositive(value: unknown): boolean {
  return Number(value) > 0;
}

function find(rows: readonly CostRow[], wanted: string): CostRow {
  const row = rows.find(({ name }) => name === wanted);
  if (row === undefined) throw new Error(`no row ${wanted}: ${rows.map(({ name }) => name).join(", ")}`);
  return row;
}

function sum(rows: readonly CostRow[], key: "inputTokens" | "outputTokens"): number {
  return rows.reduce((total, row) => total + (row.kind === "model" ? 0 : row[key]), 0);
}
