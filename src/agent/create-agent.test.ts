import { expect, test } from "vitest";

import { defineSkill } from "../core/define-skill.ts";
import { defineTool } from "../core/define-tool.ts";
import type { Tool, ToolAnnotations } from "../core/tool.ts";
import type { ModelMessage } from "../models/model.ts";
import { memoryStore } from "../store/memory-store.ts";
import { mockModel, type MockScript } from "../testing/models/mock-model.ts";
import { createWorkspace } from "../workspace/create-workspace.ts";
import type { Agent } from "./agent-interface.ts";
import type { AgentOptions, RunLimits } from "./agent-options.ts";
import type { AgentRun } from "./agent-run.ts";
import { createAgent } from "./create-agent.ts";
import type { AgentEvent } from "./events.ts";

test("run() answers with the model's text", async () => {
  const { agent } = createTestAgent(["Hello Ada"]);

  const result = await agent.run("Say hello to Ada").result;

  expect(result).toMatchObject({ status: "ok", text: "Hello Ada", output: "Hello Ada", steps: 1 });
});

test("run() makes the calls that the model asks for and tells it what came of them", async () => {
  const { agent, model } = createTestAgent([{ calls: [{ tool: "add", input: { a: 1, b: 2 } }] }, "It is 3"]);

  const result = await agent.run("Add 1 and 2").result;

  expect(result).toMatchObject({ status: "ok", text: "It is 3", steps: 2, usage: { modelCalls: 2, toolCalls: 1 } });
  expect(model.asked[1]?.prompt.slice(-2)).toEqual([
    {
      role: "assistant",
      content: [{ type: "tool-call", toolCallId: "call-0-0", toolName: "add", input: { a: 1, b: 2 } }],
    },
    {
      role: "tool",
      content: [{ type: "tool-result", toolCallId: "call-0-0", toolName: "add", output: { type: "json", value: 3 } }],
    },
  ]);
});

test("run() gives the results in the order asked, whichever call is over first", async () => {
  const { agent, model } = createTestAgent([
    { calls: [{ tool: "wait", input: { turns: 5 } }, { tool: "wait", input: { turns: 1 } }, { tool: "missing" }] },
    "Done",
  ]);

  await agent.run("Wait").result;

  const last = model.asked[1]?.prompt.at(-1) as Extract<ModelMessage, { role: "tool" }>;
  expect(last.content.map((part) => part.type === "tool-result" && part.output)).toEqual([
    { type: "json", value: 5 },
    { type: "json", value: 1 },
    { type: "error-text", value: expect.stringContaining('"missing"') },
  ]);
});

test("run() runs read-only and parallelSafe calls at the same time, and all others in the order asked", async () => {
  const reads = { readOnly: true };
  const safe = { readOnly: false, parallelSafe: true };
  const order = await orderOf({ a: reads, b: safe, write: { readOnly: false }, c: reads, unknown: {}, d: {} });

  expect(order).toBe("a+ b+ a- b- write+ write- c+ c- unknown+ unknown- d+ d-");
});

test("run() takes the word parallelSafe before all other annotations", async () => {
  const order = await orderOf({
    a: { destructive: true, parallelSafe: true },
    b: { destructive: true, parallelSafe: true },
    c: { readOnly: true, parallelSafe: false },
  });

  expect(order).toBe("a+ b+ a- b- c+ c-");
});

test("run() runs at most maxParallel calls at the same time", async () => {
  const reads = { readOnly: true };
  const order = await orderOf({ a: reads, b: reads, c: reads }, { maxParallel: 2 });

  expect(order).toBe("a+ b+ a- b- c+ c-");
});

/** When the calls of one answer begin (+) and end (-), one call for each tool. */
async function orderOf(
  annotations: Readonly<Record<string, ToolAnnotations>>,
  limits?: Partial<RunLimits>,
): Promise<string> {
  const order: string[] = [];
  const tools = Object.entries(annotations).map(([name, annotations]) =>
    defineTool({
      name,
      description: name,
      annotations,
      async run() {
        order.push(`${name}+`);
        for (let turn = 0; turn < 20; turn++) await Promise.resolve();
        order.push(`${name}-`);
      },
    }),
  );
  const { agent } = createTestAgent([{ calls: tools.map(({ name }) => ({ tool: name })) }, "Done"], { tools });
  await agent.run("Go", limits && { limits }).result;
  return order.join(" ");
}

test("run() tells its events in order to whoever iterates over it", async () => {
  const { agent } = createTestAgent([{ text: "I add", calls: [{ tool: "add", input: { a: 1, b: 2 } }] }, "It is 3"]);

  const types: string[] = [];
  for await (const event of agent.run("Add 1 and 2"))
    types.push(event.type === "call-event" ? event.event.type : event.type);

  expect(types).toEqual([
    "task-start",
    "step-start",
    "text-delta",
    "text-delta",
    "tool-input-delta",
    "tool-input-delta",
    "model-answer",
    "tool-start",
    "call-start",
    "call-end",
    "tool-end",
    "step-start",
    "text-delta",
    "text-delta",
    "text-delta",
    "model-answer",
    "task-end",
  ]);
});

test("run() opens a skill for itself alone: its tools are listed from the next step on, and refused in other runs", async () => {
  const greeting = defineSkill({
    name: "greeting",
    description: "Greets people",
    workDirection: "Greet with greeting/greet.",
    tools: [defineTool({ name: "greet", description: "Greets", run: () => "Hello" })],
  });
  const { agent, model, workspace } = createTestAgent(
    [
      { calls: [{ tool: "activate_skill", input: { name: "greeting" } }] },
      { calls: [{ tool: "greeting__greet" }] },
      "Greeted",
      { calls: [{ tool: "greeting__greet" }] },
      "Not greeted",
    ],
    { skills: [greeting] },
  );

  const first = await agent.run("Greet").result;
  const second = await agent.run("Greet").result;

  expect([first.text, second.text]).toEqual(["Greeted", "Not greeted"]);
  expect(model.asked.map(({ tools = [] }) => tools.some(({ name }) => name === "greeting__greet"))).toEqual([
    false,
    true,
    true,
    false,
    false,
  ]);
  expect(model.asked[0]?.prompt[0]?.content).toContain("greeting");
  expect(JSON.stringify(model.asked[2]?.prompt.at(-1))).toContain("Hello");
  expect(JSON.stringify(model.asked[4]?.prompt.at(-1))).toContain("greeting");
  expect(JSON.stringify(model.asked[4]?.prompt.at(-1))).not.toContain("Hello");
  expect(workspace.getActiveSkills()).toEqual([]);
});

test.for<[what: string, limits: AgentOptions["limits"], reason: string]>([
  ["maxSteps", { maxSteps: 3 }, "steps"],
  ["maxCalls", { maxCalls: 2 }, "calls"],
  ["maxTokens", { maxTokens: 100 }, "tokens"],
])("run() stops at %s", async ([, limits = {}, reason]) => {
  let count = 0;
  const { agent } = createTestAgent(
    () => ({ calls: [{ tool: "add", input: { a: (count += 1), b: 1 } }], usage: { input: 30, output: 10 } }),
    { limits },
  );

  const result = await agent.run("Go on for ever").result;

  expect(result).toMatchObject({ status: "stopped", reason });
});

test("run() tells a model that repeats itself, and stops it if it goes on", async () => {
  const { agent, model } = createTestAgent(() => ({ calls: [{ tool: "add", input: { a: 1, b: 1 } }] }));

  const result = await agent.run("Add").result;

  expect(result).toMatchObject({ status: "stopped", reason: "loop", steps: 6 });
  expect(JSON.stringify(model.asked[3]?.prompt.at(-1))).toContain("leads nowhere");
});

test("run() reads an output by its schema, and has the model mend one that does not fit", async () => {
  const schema = { type: "object", properties: { sum: { type: "number" } }, required: ["sum"] };
  const { agent, model } = createTestAgent(['{"sum": "three"}', 'Here it is:\n```json\n{"sum": 3}\n```']);

  const result = await agent.run("Add 1 and 2", { output: schema }).result;

  expect(result).toMatchObject({ status: "ok", output: { sum: 3 }, steps: 2 });
  expect(model.asked[0]?.responseFormat).toMatchObject({ type: "json", schema });
  expect(JSON.stringify(model.asked[1]?.prompt.at(-1))).toContain("sum: expected a number");
});

test("run() fails when an output never fits", async () => {
  const { agent } = createTestAgent(() => "No");

  const result = await agent.run("Add", { output: { type: "object" } }).result;

  expect(result).toMatchObject({ status: "failed", error: { code: "answer-invalid" }, steps: 3 });
});

test("run() has a model go on with an answer that was cut", async () => {
  const { agent } = createTestAgent([{ text: "The first half, ", finishReason: "interrupted" }, "the second half"]);

  const result = await agent.run("Tell").result;

  expect(result).toMatchObject({ status: "ok", text: "The first half, the second half" });
});

test("run() has a model go on with an answer that broke off", async () => {
  const { agent } = createTestAgent([{ text: "Half, ", breaks: new Error("connection lost") }, "whole"]);

  const result = await agent.run("Tell").result;

  expect(result).toMatchObject({ status: "ok", text: "Half, whole" });
});

test("run() has a model go on with an answer that broke off in the input of a call", async () => {
  const { agent } = createTestAgent([{ calls: [{ tool: "add", input: { a: 1, b: 2 } }], cutAfter: 3 }, "whole"]);

  const result = await agent.run("Add").result;

  expect(result).toMatchObject({ status: "ok", text: "whole", steps: 2, usage: { toolCalls: 0 } });
});

test("run() shows a model its own call of call_tool, and not the call inside", async () => {
  const input = { name: "add", input: { a: 1, b: 2 } };
  const { agent, model } = createTestAgent([{ calls: [{ tool: "call_tool", input }] }, "It is 3"], {
    exposure: "dispatch",
  });

  await agent.run("Add").result;

  expect(model.shown().conversation).toBe(
    'user: Add\n  -> call_tool {"name":"add","input":{"a":1,"b":2}}\n  <- call_tool 3',
  );
});

test("run() fails if an answer breaks off again and again", async () => {
  const { agent } = createTestAgent(() => ({ text: "Half, ", breaks: new Error("connection lost") }));

  const result = await agent.run("Tell").result;

  expect(result).toMatchObject({ status: "failed", error: { code: "model-unavailable" }, steps: 3 });
});

test("run() repairs an input that is not JSON, and says so", async () => {
  const { agent } = createTestAgent([{ calls: [{ tool: "add", input: "{'a': 1, 'b': 2,}" }] }, "It is 3"]);

  const events: AgentEvent[] = [];
  for await (const event of agent.run("Add")) events.push(event);

  expect(events.find(({ type }) => type === "tool-start")).toMatchObject({
    input: { a: 1, b: 2 },
    repairs: [expect.any(String), expect.any(String)],
  });
  expect(events.find(({ type }) => type === "tool-end")).toMatchObject({ outcome: { status: "ok", output: 3 } });
});

test("run() makes no calls of an answer that was cut", async () => {
  let made = 0;
  const tools = [defineTool({ name: "count", description: "Counts", run: () => (made += 1) })];
  const { agent } = createTestAgent([{ calls: [{ tool: "count" }], finishReason: "interrupted" }, "Done"], { tools });

  const result = await agent.run("Count").result;

  expect(result.status).toBe("ok");
  expect(made).toBe(0);
});

test("run() is a result also if the model throws", async () => {
  const { agent } = createTestAgent([{ error: new Error("out of order") }], { retries: false });

  const result = await agent.run("Hello").result;

  expect(result).toMatchObject({ status: "failed", error: { message: expect.stringContaining("out of order") } });
});

test("run() stops when it is told to, and cancels the call that is running", async () => {
  let isCancelled = false;
  const tools = [
    defineTool({
      name: "sleep",
      description: "Sleeps",
      run: (_input, { signal, progress }) =>
        new Promise((resolve) => {
          signal.addEventListener("abort", () => {
            isCancelled = true;
            resolve(null);
          });
          progress("asleep");
        }),
    }),
  ];
  const { agent } = createTestAgent([{ calls: [{ tool: "sleep" }] }, "Done"], { tools });

  const run = agent.run("Sleep", {
    onEvent: (event) => event.type === "call-event" && event.event.type === "call-progress" && run.stop(),
  });
  const result = await run.result;

  expect(result).toMatchObject({ status: "stopped", reason: "cancelled" });
  expect(isCancelled).toBe(true);
});

test("run() asks hooks: they change inputs, deny calls, answer for them and change outcomes", async () => {
  const { agent, model } = createTestAgent([
    { calls: [1, 2, 3, 4].map((a) => ({ tool: "add", input: { a, b: 0 } })) },
    "Done",
  ]);

  await agent.run("Add", {
    hooks: {
      beforeCall({ input }) {
        const { a } = input as { a: number };
        if (a === 1) return { input: { a: 10, b: 0 } };
        if (a === 2) return { deny: "not today" };
        return a === 3 ? { outcome: { status: "ok", output: "three" } } : undefined;
      },
      afterCall: ({ input }) => ((input as { a: number }).a === 4 ? { status: "ok", output: "four" } : undefined),
    },
  }).result;

  const last = model.asked[1]?.prompt.at(-1) as Extract<ModelMessage, { role: "tool" }>;
  expect(last.content.map((part) => part.type === "tool-result" && part.output)).toEqual([
    { type: "json", value: 10 },
    { type: "execution-denied", reason: expect.stringContaining("not today") },
    { type: "text", value: "three" },
    { type: "text", value: "four" },
  ]);
});

test("run() fails with hook-failed if a hook throws", async () => {
  const { agent } = createTestAgent(["Hello"]);

  const result = await agent.run("Hello", {
    hooks: {
      beforeModel() {
        throw new Error("broken");
      },
    },
  }).result;

  expect(result).toMatchObject({ status: "failed", error: { code: "hook-failed", details: { hook: "beforeModel" } } });
});

test("run() asks once more if somebody says something while the model gives its last answer", async () => {
  const store = memoryStore();
  const model = mockModel(["The first answer", "The second"]);
  const agent = createAgent({ model, store, workspace: createWorkspace() });
  const run: AgentRun = agent.run("Go", {
    onEvent: ({ type }) => type === "model-answer" && model.asked.length === 1 && run.steer("And this, too"),
  });

  const { status, text } = await run.result;

  expect({ status, text }).toEqual({ status: "ok", text: "The second" });
  expect(model.shown(1).conversation).toBe("user: Go\nassistant: The first answer\nuser: And this, too");
  expect(await agent.replay(run.id)).toMatchObject({ status: "same", steps: 2 });
});

test("run() says what somebody wants to say before it asks again", async () => {
  const { agent, model } = createTestAgent([{ calls: [{ tool: "add", input: { a: 1, b: 2 } }] }, "Stopped"]);

  const run = agent.run("Add", { onEvent: (event) => event.type === "tool-end" && run.steer("Stop that") });
  await run.result;

  expect(model.asked[1]?.prompt.at(-1)).toEqual({ role: "user", content: [{ type: "text", text: "Stop that" }] });
});

test.for<[what: string, task: unknown]>([
  ["nothing", undefined],
  ["no text", " "],
  ["no messages", []],
  ["a number", 5],
])("run() refuses %s as a task, in its result", async ([, task]) => {
  const { agent } = createTestAgent(["Hello"]);

  const result = await agent.run(task as string).result;

  expect(result).toMatchObject({ status: "failed", error: { code: "option-invalid", details: { option: "task" } } });
});

test("run() survives an unknown part of an answer, and keeps it", async () => {
  const part = { type: "hologram", id: "1" } as never;
  const { agent } = createTestAgent([{ parts: [part], text: "Hello" }]);

  const events: AgentEvent[] = [];
  for await (const event of agent.run("Hello")) events.push(event);

  expect(events.find(({ type }) => type === "model-answer")).toMatchObject({ unknown: [part] });
});

test("run() tells the text as it comes", async () => {
  const { agent } = createTestAgent(["Hello dear Ada"]);
  const pieces: string[] = [];

  await agent.run("Hello", { onText: (text) => pieces.push(text) }).result;

  expect(pieces).toEqual(["Hello ", "dear ", "Ada"]);
});

test("run() shows pictures", async () => {
  const { agent, model } = createTestAgent(["A dot"]);
  const dot = Buffer.from("R0lGODlhAQABAIAAAP///wAAACH5BAAAAAAALAAAAAABAAEAAAICRAEAOw==", "base64");

  const result = await agent.run("What is it?", { images: [dot] }).result;
  const missing = await agent.run("What is it?", { images: ["/no/such.png"] }).result;

  expect(result.text).toBe("A dot");
  expect(model.asked[0]?.prompt.at(-1)?.content).toMatchObject([
    { type: "text" },
    { type: "file", mediaType: expect.stringMatching(/^image\//u) },
  ]);
  expect(missing).toMatchObject({ status: "failed", error: { code: "image-invalid" } });
});

test("run() refuses maxCost for a model whose price nobody knows", async () => {
  const { agent } = createTestAgent(["Hello"], { provider: "acme", limits: { maxCost: 1 } });

  const result = await agent.run("Hello").result;

  expect(result).toMatchObject({ status: "failed", error: { code: "price-unknown" } });
});

interface TestOptions extends Partial<AgentOptions> {
  readonly tools?: readonly Tool[];
  readonly skills?: Parameters<typeof createWorkspace>[0] extends { skills?: infer Skills } | undefined
    ? Skills
    : never;
  readonly provider?: string;
}

function createTestAgent(
  script: MockScript,
  { tools = [add, wait], skills = [], provider = "kitbag.mock", ...options }: TestOptions = {},
): { agent: Agent; model: ReturnType<typeof mockModel>; workspace: ReturnType<typeof createWorkspace> } {
  const model = mockModel(script, { provider });
  const workspace = createWorkspace({ tools, skills });
  return { model, workspace, agent: createAgent({ model, workspace, ...options }) };
}

const add = defineTool({
  name: "add",
  description: "Adds two numbers",
  input: { type: "object", properties: { a: { type: "number" }, b: { type: "number" } }, required: ["a", "b"] },
  run: ({ a, b }) => Number(a) + Number(b),
});

const wait = defineTool({
  name: "wait",
  description: "Waits some turns",
  input: { type: "object", properties: { turns: { type: "number" } }, required: ["turns"] },
  async run({ turns }) {
    for (let turn = 0; turn < Number(turns); turn++) await new Promise(setImmediate);
    return turns;
  },
});
