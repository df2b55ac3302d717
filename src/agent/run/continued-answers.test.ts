import { expect, test } from "vitest";
import * as z from "zod";

import { defineTool } from "../../core/define-tool.ts";
import type { ModelMessage } from "../../models/model.ts";
import { memoryStore } from "../../store/memory-store.ts";
import { mockModel, type MockModel, type MockScript } from "../../testing/models/mock-model.ts";
import { createWorkspace } from "../../workspace/create-workspace.ts";
import type { Agent } from "../agent-interface.ts";
import type { AgentOptions } from "../agent-options.ts";
import { createAgent } from "../create-agent.ts";

const cut = (text: string): { text: string; finishReason: "length" } => ({ text, finishReason: "length" });
const point = z.object({ x: z.number(), y: z.number() });

test("run() has an answer continued that the output limit cut, and joins the parts", async () => {
  const { agent, model } = createTestAgent([cut("One, "), cut("two, "), "three"]);

  const { text, finishReason, steps } = await agent.run("Count");

  expect({ text, finishReason, steps }).toEqual({ text: "One, two, three", finishReason: "stop", steps: 3 });
  expect(model.asked[1]?.prompt.slice(1)).toEqual([
    says("assistant", "One, "),
    says(
      "user",
      "The output limit was reached, and your answer is cut off. Go on exactly where it ends, and repeat nothing.",
    ),
  ]);
});

test("run() gives a cut answer as cut after so many continuations, and a fork goes on from there", async () => {
  const { agent } = createTestAgent([cut("a"), cut("b"), cut("c"), cut("d"), cut("e"), "f"], { store: memoryStore() });

  const run = agent.run("Go", { id: "a" });
  const result = await run.result;
  const { text } = await agent.fork("a", 4);

  expect(result).toMatchObject({ status: "cut", text: "abcd", finishReason: "length", steps: 4 });
  expect(result.error).toMatchObject({ code: "answer-cut", details: { run: "a", times: 4, text: "abcd" } });
  await expect(run.text()).rejects.toMatchObject({ code: "answer-cut", details: { run: "a", text: "abcd" } });
  expect(text).toBe("abcdef");
});

test("run() does not continue an answer if that is not wanted", async () => {
  const { agent, model } = createTestAgent([cut("a")], { limits: { maxContinuations: 0 } });

  expect(await agent.run("Go").result).toMatchObject({ status: "cut", text: "a" });
  expect(model.asked).toHaveLength(1);
});

test("run() has an output continued without holding the rest to the schema", async () => {
  const { agent, model } = createTestAgent([cut('{"x": 1,'), '"y": 2}']);

  const output = await agent.run("Where?", { output: point }).output();

  expect(output).toEqual({ x: 1, y: 2 });
  expect(model.asked.map(({ responseFormat }) => responseFormat?.type)).toEqual(["json", undefined]);
  expect(JSON.stringify(model.asked[1]?.prompt.at(-1))).toContain("Write only the rest of the JSON.");
});

test.for([
  ['{"x": 1, "y"', '{"x": 1, "y": 2}'],
  ['{"x": 1, "y"', '```json\n{"x": 1, "y": 2}\n```'],
  ['{"x": 1,', '```json\n"y": 2}\n```'],
  ['{"x": 1, "y": 2', "}"],
] as const)("run() reads the output %j and %j", async ([first, second]) => {
  const { agent } = createTestAgent([cut(first), second]);

  expect(await agent.run("Where?", { output: point }).output()).toEqual({ x: 1, y: 2 });
});

test("run() takes an output that is whole when the limit is reached", async () => {
  const { agent, model } = createTestAgent([cut('{"x": 1, "y": 2}')]);

  expect(await agent.run("Where?", { output: point }).output()).toEqual({ x: 1, y: 2 });
  expect(model.asked).toHaveLength(1);
});

test("run() says to a model that thought up to the output limit that it must answer", async () => {
  const { agent, model } = createTestAgent([{ reasoning: "Hm", finishReason: "length" }, "Done"]);

  const { text } = await agent.run("Go");

  expect(text).toBe("Done");
  expect(model.asked[1]?.prompt.slice(1)).toEqual([
    says("user", "The output limit was reached before you had said anything. Answer now, with less thought."),
  ]);
});

test("run() tells the model that the output limit cut its call, and makes the calls before it", async () => {
  const calls = [
    { tool: "put", input: { to: "whole" } },
    { tool: "put", input: '{"to": "ha' },
  ];
  const { agent, made } = createTestAgent([{ calls, finishReason: "length" }, "Done"]);

  const { messages } = await agent.run("Put it");

  expect(made).toEqual(["whole"]);
  expect(JSON.stringify(messages)).toContain("the output limit cut its input off, so it was not made; make it again");
});

test.for(["", "{}"])(
  "run() does not make a last call with the input %j when the output limit cut it",
  async (input) => {
    const { agent, made } = createTestAgent([{ calls: [{ tool: "put", input }], finishReason: "length" }, "Done"]);

    await agent.run("Put it");

    expect(made).toEqual([]);
  },
);

test("run() makes a call without input when the output limit is reached", async () => {
  const { agent, made } = createTestAgent([{ calls: [{ tool: "now" }], finishReason: "length" }, "Done"]);

  await agent.run("What time is it?");

  expect(made).toEqual(["now"]);
});

test("run() tells the model which call was cut if the provider leaves it out", async () => {
  const begun = [
    { type: "tool-input-start", id: "a", toolName: "put" },
    { type: "tool-input-delta", id: "a", delta: '{"to": "ha' },
  ] as const;
  const { agent, model } = createTestAgent([{ text: "I put it. ", parts: begun, finishReason: "length" }, "Done"]);

  await agent.run("Put it");

  expect(JSON.stringify(model.asked[1]?.prompt.at(-1))).toContain(
    "The output limit was reached before your call of put was whole, so it was not made.",
  );
});

test.for(["", "I cannot"])("run() is refused if the provider filters the answer %j", async (text) => {
  const { agent } = createTestAgent([{ text, finishReason: "content-filter" }]);

  const run = agent.run("Go", { id: "a" });

  expect(await run.result).toMatchObject({ status: "refused", text, finishReason: "content-filter" });
  await expect(run.text()).rejects.toMatchObject({ code: "answer-refused", details: { run: "a", text } });
});

test("run() makes no call of an answer that was filtered", async () => {
  const calls = [{ tool: "put", input: { to: "x" } }];
  const { agent, made } = createTestAgent([{ calls, finishReason: "content-filter" }], { store: memoryStore() });

  expect(await agent.run("Go", { id: "a" }).result).toMatchObject({ status: "refused" });
  expect(made).toEqual([]);
  expect(await agent.replay("a")).toMatchObject({ status: "same", steps: 1 });
});

test.for([["Done"], [cut("b"), cut("c"), cut("d")]])("replay() repeats continued answers (%#)", async (rest) => {
  const { agent } = createTestAgent([cut("a"), ...rest], { store: memoryStore() });
  await agent.run("Go", { id: "a" }).result;

  expect(await agent.replay("a")).toMatchObject({ status: "same", steps: 1 + rest.length });
});

test("resume() joins the parts of an answer that was cut before", async () => {
  const { agent } = createTestAgent([cut("One, "), "two"], { store: memoryStore() });
  const run = agent.run("Count", { id: "a", onEvent: ({ type }) => type === "message-added" && run.stop() });
  await run.result;

  const { text } = await agent.resume("a");

  expect(text).toBe("One, two");
});

const tooLong = { refused: { status: 400, message: "This model's maximum context length is 100 tokens" } } as const;
const talk = Array.from({ length: 40 }, (_, index) =>
  says(index % 2 === 0 ? "user" : "assistant", `${index} ${"words and more words ".repeat(20)}`),
);

test("run() makes the conversation shorter and asks once more when the provider finds it too long", async () => {
  const { agent, model } = createTestAgent([tooLong, "Done"], { store: memoryStore() });
  const types: string[] = [];

  const { text } = await agent.run([...talk, says("user", "Go on")], {
    id: "a",
    onEvent: ({ type }) => types.push(type),
  });

  const sizes = model.asked.map(({ prompt }) => JSON.stringify(prompt).length);
  expect(text).toBe("Done");
  expect(types).toContain("memory-compacted");
  expect(sizes[1]).toBeLessThan((sizes[0] ?? 0) / 2);
  expect(await agent.replay("a")).toMatchObject({ status: "same", steps: 1 });
});

test("run() fails when the provider finds the conversation too long again, or it cannot be shorter", async () => {
  const { agent, model } = createTestAgent([tooLong, tooLong, tooLong]);

  const long = await agent.run([...talk, says("user", "Go on")]).result;
  const short = await agent.run("Hi").result;

  expect(long).toMatchObject({ status: "failed", error: { code: "model-context-exceeded" } });
  expect(short).toMatchObject({ status: "failed", error: { code: "model-context-exceeded" } });
  expect(model.asked).toHaveLength(3);
});

test("replay() repeats a question before which the conversation was made shorter twice", async () => {
  const { agent } = createTestAgent([tooLong, "Done"], { store: memoryStore(), memory: { maxTokens: 2000 } });
  await agent.run([...talk, says("user", "Go on")], { id: "a" });

  expect(await agent.replay("a")).toMatchObject({ status: "same", steps: 1 });
});

interface TestAgent {
  readonly agent: Agent;
  readonly model: MockModel;
  readonly made: string[];
}

function createTestAgent(script: MockScript, options: Partial<AgentOptions> = {}): TestAgent {
  const made: string[] = [];
  const put = defineTool({
    name: "put",
    description: "Puts",
    input: { type: "object", properties: { to: { type: "string" } } },
    run: ({ to = "nothing" }) => void made.push(String(to)),
  });
  const now = defineTool({ name: "now", description: "Tells the time", run: () => void made.push("now") });
  const model = mockModel(script);
  const workspace = createWorkspace({ tools: [put, now] });
  return { model, made, agent: createAgent({ model, workspace, retries: { maxRetries: 0 }, ...options }) };
}

function says<Role extends "user" | "assistant">(role: Role, text: string): ModelMessage & { role: Role } {
  return { role, content: [{ type: "text", text }] } as ModelMessage & { role: Role };
}
