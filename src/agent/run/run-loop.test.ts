import { expect, test } from "vitest";

import { defineTool } from "../../core/define-tool.ts";
import type { JsonValue } from "../../core/json.ts";
import type { Model, ModelMessage, ModelPart } from "../../models/model.ts";
import { memoryStore } from "../../store/memory-store.ts";
import { mockModel, type MockScript } from "../../testing/models/mock-model.ts";
import { createWorkspace } from "../../workspace/create-workspace.ts";
import type { AgentOptions } from "../agent-options.ts";
import { createAgent } from "../create-agent.ts";
import type { AgentHooks } from "../hooks.ts";
import { noUsage } from "./answer-reader.ts";

const verdicts: readonly [hook: keyof AgentHooks, verdict: unknown][] = [
  ["beforeModel", "x"],
  ["beforeModel", []],
  ["beforeCall", true],
  ["beforeCall", {}],
  ["beforeCall", { deny: 5 }],
  ["beforeCall", { outcome: 5 }],
  ["beforeCall", { outcome: { status: "ok" } }],
  ["afterCall", 5],
  ["afterCall", {}],
  ["afterCall", { status: "what" }],
  ["afterCall", { status: "failed", error: "no" }],
];

test.for(verdicts)("run() fails with hook-failed when %s answers %j", async ([hook, verdict]) => {
  const { agent } = createTestAgent([put(), "Done"], { hooks: { [hook]: () => verdict } });

  expect(await agent.run("Go").result).toMatchObject({
    status: "failed",
    error: { code: "hook-failed", details: { hook } },
  });
});

test.for(["beforeModel", "afterModel", "beforeCall", "afterCall"])(
  "run() takes null of %s for nothing",
  async (hook) => {
    const { agent, made } = createTestAgent([put("a"), "Done"], { hooks: { [hook]: () => null } });

    expect(await agent.run("Go").result).toMatchObject({ status: "ok" });
    expect(made).toEqual(["a"]);
  },
);

test("run() stops a hook that wants every answer again where the run must stop anyway", async () => {
  const { agent, model } = createTestAgent(() => "No", {
    hooks: { afterModel: () => "again" },
    limits: { maxSteps: 5 },
  });

  expect(await agent.run("Go").result).toMatchObject({ status: "stopped", reason: "steps" });
  expect(model.asked).toHaveLength(5);
});

test("run() makes no more calls than it may for a hook that wants each again", async () => {
  const { agent, made } = createTestAgent([put("a"), "Done"], {
    hooks: { afterCall: () => ({ again: { to: "b" } }) },
    limits: { maxCalls: 5 },
  });

  await agent.run("Go").result;

  expect(made).toEqual(["a", "b", "b", "b", "b"]);
});

test("run() holds to maxTokens with a model that does not say what it used", async () => {
  const { model } = createTestAgent(() => put());
  const silent: Model = {
    ...model,
    async doStream(call) {
      const { stream } = await model.doStream(call);
      const mute = new TransformStream<ModelPart, ModelPart>({
        transform: (part, to) => to.enqueue(part.type === "finish" ? { ...part, usage: noUsage } : part),
      });
      return { stream: stream.pipeThrough(mute) };
    },
  };
  const { agent } = createTestAgent([], { model: silent, limits: { maxTokens: 100 } });

  expect(await agent.run("Go").result).toMatchObject({ status: "stopped", reason: "tokens" });
});

test("run() begins none of the calls of an answer that asks for more than it may make", async () => {
  const calls = Array.from({ length: 500 }, (_, index) => ({ tool: "put", input: { to: String(index) } }));
  const { agent, made } = createTestAgent([put("first"), { calls }, "Done"], { limits: { maxCalls: 10 } });

  expect(await agent.run("Go").result).toMatchObject({ status: "stopped", reason: "calls" });
  expect(made).toEqual(["first"]);
});

test.for([{ maxSteps: Number.NaN }, { maxParallel: 0 }, { maxCost: -1 }, { maxMs: "5" as never }])(
  "run() refuses the limits %j",
  async (limits) => {
    const { agent } = createTestAgent(["Done"]);

    expect(await agent.run("Go", { limits }).result).toMatchObject({
      status: "failed",
      error: { code: "option-invalid" },
    });
  },
);

test("run() gives each call an id of its own, whatever the model says", async () => {
  const call = (id: string, to: string): object => ({ tool: "put", id, input: { to } });
  const { agent, made } = createTestAgent([
    { calls: [call("a", "1"), call("a", "2"), call("", "3")] },
    { calls: [call("a", "4")] },
    "Done",
  ] as MockScript);

  const { messages } = await agent.run("Go").result;

  expect(callsIn(messages)).toEqual([
    ["a", { to: "1" }],
    ["a-1-1", { to: "2" }],
    ["call-1-2", { to: "3" }],
    ["a-2-0", { to: "4" }],
  ]);
  expect(resultsIn(messages)).toEqual(["a", "a-1-1", "call-1-2", "a-2-0"]);
  expect(made.toSorted()).toEqual(["1", "2", "3", "4"]);
});

const deep = "[".repeat(100_000) + "]".repeat(100_000);

test.for(["__proto__", "a\u0000b c", "x".repeat(5000), "", "put ", "constructor"])(
  "run() survives a call of %j, and shows it as providers take it",
  async (tool) => {
    const { agent } = createTestAgent([{ calls: [{ tool }] }, "Done"], { store: memoryStore() });

    const { status, messages } = await agent.run("Go").result;

    expect(status).toBe("ok");
    expect(JSON.stringify(messages)).toMatch(/"toolName":"[A-Za-z0-9_-]{1,64}"/u);
    expect(JSON.stringify(messages)).toContain("error-text");
  },
);

test.for([
  deep,
  `{"to":${deep}}`,
  "no json {{{",
  "[1]",
  "5",
  "null",
  `{"__proto__":{"to":"x"}}`,
  `{"to":"${"x".repeat(1e6)}`,
])("run() survives an input that is wrong (%#)", async (input) => {
  const { agent } = createTestAgent([{ calls: [{ tool: "put", input }] }, "Done"], { store: memoryStore() });

  const { status, messages } = await agent.run("Go").result;

  expect(status).toBe("ok");
  for (const [, shown] of callsIn(messages)) expect(Object.prototype.toString.call(shown)).toBe("[object Object]");
});

test("run() does not repair the input of an answer that was too long", async () => {
  const input = '{"to":"half of it';
  const { agent, made } = createTestAgent([{ calls: [{ tool: "put", input }], finishReason: "length" }, "Done"]);

  const { messages } = await agent.run("Go").result;

  expect(made).toEqual([]);
  expect(JSON.stringify(messages)).toContain("the output limit cut its input off, so it was not made");
});

test("run() shows no message of an answer that says nothing", async () => {
  const { agent } = createTestAgent([{ text: "" }]);

  expect((await agent.run("Go").result).messages).toEqual([{ role: "user", content: [{ type: "text", text: "Go" }] }]);
});

test("run() goes on with what the model said when it was cut, and with nothing it said before", async () => {
  const { agent } = createTestAgent([
    { ...put("a"), text: "I put it. " },
    { text: "It is ", finishReason: "interrupted" },
    { text: "in its ", finishReason: "interrupted" },
    "place",
  ]);

  expect(await agent.run("Go").result).toMatchObject({ status: "ok", text: "It is in its place" });
});

test("run() reads a mended output alone, after one that was cut and wrong", async () => {
  const output = { type: "object", properties: { sum: { type: "number" } }, required: ["sum"] } as const;
  const { agent } = createTestAgent([{ text: '{"sum":', finishReason: "interrupted" }, '"x"}', '{"sum":3}']);

  expect(await agent.run("Go", { output }).result).toMatchObject({ status: "ok", output: { sum: 3 } });
});

test("run() takes an answer of 10,000 parts", async () => {
  const parts: ModelPart[] = Array.from({ length: 10_000 }, (_, index) => ({
    type: "source",
    sourceType: "url",
    id: String(index),
    url: "https://example.com",
  }));
  const { agent } = createTestAgent([{ parts, text: "Done" }], { store: memoryStore() });

  expect(await agent.run("Go").result).toMatchObject({ status: "ok", text: "Done" });
});

function put(to = "x"): { readonly calls: readonly { readonly tool: string; readonly input: JsonValue }[] } {
  return { calls: [{ tool: "put", input: { to } }] };
}

interface TestAgent {
  readonly agent: ReturnType<typeof createAgent>;
  readonly model: ReturnType<typeof mockModel>;
  readonly made: string[];
}

function createTestAgent(script: MockScript, options: Partial<AgentOptions> = {}): TestAgent {
  const made: string[] = [];
  const tool = defineTool({
    name: "put",
    description: "Puts",
    input: { type: "object", properties: { to: { type: "string" } }, required: ["to"] },
    run: ({ to }) => void made.push(String(to)),
  });
  const model = mockModel(script);
  return { model, made, agent: createAgent({ model, workspace: createWorkspace({ tools: [tool] }), ...options }) };
}

function callsIn(messages: readonly ModelMessage[]): readonly (readonly [id: string, input: unknown])[] {
  return messages.flatMap(({ role, content }) =>
    role === "assistant"
      ? content.flatMap((part) => (part.type === "tool-call" ? [[part.toolCallId, part.input] as const] : []))
      : [],
  );
}

function resultsIn(messages: readonly ModelMessage[]): readonly string[] {
  return messages.flatMap(({ role, content }) =>
    role === "tool" ? content.flatMap((part) => (part.type === "tool-result" ? [part.toolCallId] : [])) : [],
  );
}
