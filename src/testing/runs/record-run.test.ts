import { expect, test } from "vitest";

import type { AgentRun } from "../../agent/agent-run.ts";
import { createAgent } from "../../agent/create-agent.ts";
import type { RunResult } from "../../agent/run-result.ts";
import type { AgentOptions } from "../../agent/agent-options.ts";
import { defineSkill } from "../../core/define-skill.ts";
import { defineTool } from "../../core/define-tool.ts";
import { isKitbagError } from "../../core/errors.ts";
import { memoryStore } from "../../store/memory-store.ts";
import { createRuns } from "../../records/runs/create-runs.ts";
import { createWorkspace } from "../../workspace/create-workspace.ts";
import { mockModel, type MockScript } from "../models/mock-model.ts";
import { recordRun } from "./record-run.ts";
import { recordedModel, type RecordedModelOptions } from "./recorded-model.ts";
import { recordedTools } from "./recorded-tools.ts";
import { renderRun } from "./render-run.ts";
import type { RunFixture } from "./run-fixture.ts";

test("recordRun() and recordedModel() refuse options that they do not know", async () => {
  const start = (): AgentRun => createAgent({ model: mockModel(["Hello"]), workspace: createWorkspace() }).run("Hi");
  const fixture = await recordRun(start());

  await expect(recordRun(start(), { askd: [] } as never)).rejects.toThrow('expected "asked"');
  expect(() => recordedModel(fixture, { onDivergence: "goon" } as never)).toThrow('expected "throw" or "go-on"');
});

test("recordRun() makes the same fixture of a run that is watched and of its journal", async () => {
  const store = memoryStore();
  const { agent } = createTestAgent(twoRolls, { store });

  const watched = await recordRun(agent.run("Roll twice", { id: "a" }));
  const journal = await recordRun(await createRuns({ store }).read("a", { limit: 1000 }));

  expect(journal).toEqual(watched);
});

test("recordRun() makes the same fixture of the same run, and nothing in it is of this machine or this time", async () => {
  const make = (): Promise<RunFixture> => {
    const { agent, model } = createTestAgent(twoRolls);
    return recordRun(agent.run("Roll twice", { user: "Ada" }), { asked: model.asked });
  };

  const [first, second] = [await make(), await make()];

  expect(second).toEqual(first);
  expect(JSON.stringify(first)).not.toMatch(/durationMs|"time"|"cost"|Ada|[\da-f]{8}-[\da-f]{4}-/u);
});

test("recordRun() makes what can be kept in a file", async () => {
  const image = { type: "file" as const, mediaType: "image/png", data: { type: "data" as const, data: png } };
  const { agent } = createTestAgent(["A dot"]);

  const fixture = await recordRun(
    agent.run([{ role: "user", content: [{ type: "text", text: "What is it?" }, image] }]),
  );

  expect(JSON.parse(JSON.stringify(fixture))).toEqual(fixture);
});

test.for<[what: string, run: unknown]>([
  ["nothing", undefined],
  ["a text", "run"],
  ["an empty journal", []],
  ["a journal of something else", [{ position: 1, time: 0, value: { type: "lease-start" } }]],
  ["lines that are none", [{ value: null }]],
])("recordRun() refuses %s", async ([, run]) => {
  const failure = await recordRun(run as never).catch((cause: unknown) => cause);

  expect(isKitbagError(failure, "option-invalid")).toBe(true);
});

test("recordRun() refuses a run whose beginning is over", async () => {
  const { agent } = createTestAgent(["Hello"]);
  const run = agent.run("Hello");
  await run.result;

  await expect(recordRun(run)).rejects.toMatchObject({ code: "option-invalid", details: { option: "run" } });
});

test("recordedModel() and recordedTools() give a run again without its model and its tools", async () => {
  const fixture = await record(twoRolls);
  let reached = 0;

  const { result } = await replay(fixture, { run: () => (reached += 1) });

  expect(result).toMatchObject({ status: "ok", text: "You rolled 4 and 5", steps: 2 });
  expect(renderRun(result)).toBe(renderRun(fixture));
  expect(reached).toBe(0);
});

test("recordedModel() fails with the lines that differ if the task is another one", async () => {
  const fixture = await record(["Hello"]);

  const { result, model } = await replay(fixture, { task: "Roll thrice" });

  expect(result).toMatchObject({ status: "failed", error: { code: "recording-diverged" } });
  expect(result.error?.message).toBe(
    [
      "Cannot answer from the recording: with question 1 the model is shown another conversation; record it again if that is right",
      "- user: Roll twice",
      "+ user: Roll thrice",
    ].join("\n"),
  );
  expect(model.divergence).toMatchObject({ step: 1, what: "another conversation" });
});

test("recordedModel() finds the result of a tool that is not what it was", async () => {
  const fixture = await record(twoRolls);

  const { result } = await replay(fixture, { run: () => 1, tools: "real" });

  expect(result.error?.message.split("\n").slice(1)).toEqual([
    '    -> roll {"die":1}',
    '    -> roll {"die":2}',
    "-   <- roll 4",
    "-   <- roll 5",
    "+   <- roll 1",
    "+   <- roll 1",
  ]);
});

test("recordedModel() finds another system text and other tools, if they were recorded", async () => {
  const fixture = await record(["Hello"]);

  const system = await replay(fixture, { instructions: "Be wordy" });
  const tools = await replay(fixture, { description: "Throws a die" });

  expect(system.model.divergence).toMatchObject({ what: "another system text", difference: "- Be brief\n+ Be wordy" });
  expect(tools.model.divergence?.what).toBe("other tools");
  expect(tools.model.divergence?.difference).toMatch(/^- .*Rolls a die.*\n\+ .*Throws a die/u);
});

test("recordedModel() goes on if it is told to, and remembers where it differed first", async () => {
  const fixture = await record(twoRolls);

  const { result, model } = await replay(fixture, { task: "Roll thrice", onDivergence: "go-on" });

  expect(result).toMatchObject({ status: "ok", text: "You rolled 4 and 5" });
  expect(model.divergence?.step).toBe(1);
});

test("recordedModel() says that the run has no more answers", async () => {
  const fixture = await record(["Hello"]);
  const model = recordedModel(fixture);
  const agent = createAgent({ model, workspace: createWorkspace({ tools: [roll()] }), instructions: "Be brief" });
  await agent.run("Roll twice").result;

  const result = await agent.run("Roll twice").result;

  expect(result).toMatchObject({ status: "failed", error: { code: "model-failed" } });
});

test("recordedModel() gives answers of a run that was cut, nudged and mended again", async () => {
  const fixture = await record([
    { text: "Half, ", breaks: new Error("lost") },
    { calls: [{ tool: "roll", input: { die: 1 } }] },
    { calls: [{ tool: "roll", input: { die: 1 } }] },
    { calls: [{ tool: "roll", input: { die: 1 } }] },
    "whole",
  ]);

  const { result } = await replay(fixture);

  expect(result).toMatchObject({ status: "ok", text: "whole", steps: 5 });
});

test.for<unknown>([undefined, null, 5, {}, { kitbag: "run", version: 2, events: [], end: {} }, []])(
  "recordedModel() and recordedTools() refuse %j",
  (fixture) => {
    expect(() => recordedModel(fixture as RunFixture)).toThrow(expect.objectContaining({ code: "option-invalid" }));
    expect(() => recordedTools(fixture as RunFixture)).toThrow(expect.objectContaining({ code: "option-invalid" }));
  },
);

test("recordedTools() answers the same call with what came of it each time, whatever the order of its properties", async () => {
  const workspace = await workspaceOf(await record([{ calls: [rollBoth, rollBoth] }, "Done"]));

  const first = await workspace.call("roll", { sides: 6, die: 1 });
  const second = await workspace.call("roll", { die: 1, sides: 6 });
  const third = await workspace.call("roll", { die: 1, sides: 6 });

  expect([first, second]).toEqual([
    { status: "ok", output: 4 },
    { status: "ok", output: 5 },
  ]);
  expect(third).toMatchObject({
    status: "failed",
    error: { code: "recording-diverged", details: { what: "roll is called once more than it was" } },
  });
});

test("recordedTools() says what was recorded of a tool that is called with something else", async () => {
  const workspace = await workspaceOf(await record(twoRolls));

  const outcome = await workspace.call("roll", { die: 9 });

  expect(outcome).toMatchObject({
    error: {
      details: {
        what: "roll was called with something else",
        difference: '- roll {"die":1}\n- roll {"die":2}\n+ roll {"die":9}',
      },
    },
  });
});

test("recordedTools() answers failures again", async () => {
  const fixture = await record([{ calls: [{ tool: "roll", input: { die: "none" } }] }, "Failed"]);

  const { result } = await replay(fixture);

  expect(renderRun(result)).toContain("<- roll (error-text)");
  expect(result.text).toBe("Failed");
});

test("recordedTools() knows tools of skills by their address and through call_tool", async () => {
  const script: MockScript = [
    { calls: [{ tool: "activate_skill", input: { name: "dice" } }] },
    { calls: [{ tool: "call_tool", input: { name: "dice/roll", input: { die: 1 } } }] },
    "Rolled",
  ];
  const fixture = await record(script, { exposure: "dispatch" });
  let reached = 0;

  const { result } = await replay(fixture, { run: () => (reached += 1), exposure: "dispatch" });

  expect(result).toMatchObject({ status: "ok", text: "Rolled", skills: ["dice"] });
  expect(reached).toBe(0);
});

const png = new Uint8Array([137, 80, 78, 71]);
const rollBoth = { tool: "roll", input: { die: 1, sides: 6 } };
const twoRolls: MockScript = [
  {
    reasoning: { text: "Two rolls", metadata: { anthropic: { signature: "c2ln" } } },
    calls: [
      { tool: "roll", input: { die: 1 } },
      { tool: "roll", input: { die: 2 } },
    ],
  },
  "You rolled 4 and 5",
];

function roll(run?: () => unknown, description = "Rolls a die"): ReturnType<typeof defineTool> {
  let next = 4;
  return defineTool({
    name: "roll",
    description,
    input: { type: "object", properties: { die: { type: "number" }, sides: { type: "number" } } },
    run: run ?? (() => next++),
  });
}

type TestOptions = Partial<Pick<AgentOptions, "exposure" | "instructions" | "store">>;

function createTestAgent(
  script: MockScript,
  options: TestOptions = {},
): {
  agent: ReturnType<typeof createAgent>;
  model: ReturnType<typeof mockModel>;
} {
  const model = mockModel(script);
  const workspace = createWorkspace({ tools: [roll()], skills: options.exposure === undefined ? [] : [dice()] });
  return { model, agent: createAgent({ model, workspace, instructions: "Be brief", ...options }) };
}

function dice(run?: () => unknown): ReturnType<typeof defineSkill> {
  return defineSkill({ name: "dice", description: "Dice", workDirection: "Roll.", tools: [roll(run)] });
}

async function record(script: MockScript, options: TestOptions = {}): Promise<RunFixture> {
  const { agent, model } = createTestAgent(script, options);
  return recordRun(agent.run("Roll twice"), { asked: model.asked });
}

interface ReplayOptions extends RecordedModelOptions, TestOptions {
  readonly task?: string;
  readonly run?: () => unknown;
  readonly tools?: "real";
  readonly description?: string;
}

async function replay(
  fixture: RunFixture,
  { task = "Roll twice", run, tools, description, onDivergence = "throw", ...options }: ReplayOptions = {},
): Promise<{ result: RunResult; model: ReturnType<typeof recordedModel> }> {
  const model = recordedModel(fixture, { onDivergence });
  const workspace = createWorkspace({
    tools: [roll(run, description)],
    skills: options.exposure === undefined ? [] : [dice(run)],
  });
  if (tools === undefined) workspace.use(recordedTools(fixture));
  const agent = createAgent({ model, workspace, instructions: "Be brief", ...options });
  return { model, result: await agent.run(task).result };
}

async function workspaceOf(fixture: RunFixture): Promise<ReturnType<typeof createWorkspace>> {
  const workspace = createWorkspace({ tools: [roll()] });
  workspace.use(recordedTools(fixture));
  return workspace;
}
