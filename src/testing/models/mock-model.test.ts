import { expect, test } from "vitest";

import { createAgent } from "../../agent/create-agent.ts";
import type { RunResult } from "../../agent/run-result.ts";
import type { ModelCall, ModelPart } from "../../models/model.ts";
import { withRetries } from "../../models/retry/with-retries.ts";
import { createWorkspace } from "../../workspace/create-workspace.ts";
import { defineTool } from "../../core/define-tool.ts";
import { mockModel, type MockAnswer, type MockScript } from "./mock-model.ts";

const question: ModelCall = { prompt: [{ role: "user", content: [{ type: "text", text: "Hello" }] }] };

test.for<[what: string, script: unknown, message: string]>([
  ["a part that is none", [{ txt: "Hello" }], 'Cannot use "script[0].txt": found an unknown option, expected "text"'],
  [
    "what is no list of answers",
    "Hello",
    'Cannot use "script": found "Hello", expected a list of answers, or a function',
  ],
  ["what is no answer", ["Hello", 42], 'Cannot use "script[1]": found 42, expected a text, or an object'],
  ["a call of nothing", [{ calls: [{ input: {} }] }], 'Cannot use "script[0].calls[0].tool": found nothing'],
  ["tokens that are none", [{ usage: { inputTokens: 5 } }], 'Cannot use "script[0].usage.inputTokens"'],
  ["a refusal without a status", [{ refused: {} }], 'Cannot use "script[0].refused.status": found nothing'],
])("mockModel() refuses %s", ([, script, message]) => {
  expect(() => mockModel(script as MockScript)).toThrow(message);
});

test("mockModel() refuses what a function answers that is no answer, and waits for one that takes its time", async () => {
  const none = mockModel(() => undefined as never);
  const slow = mockModel(async () => "Hello");
  const agents = [none, slow].map((model) => createAgent({ model, workspace: createWorkspace() }));

  const [failed, ok] = await Promise.all(agents.map((agent) => agent.run("Hi").result));

  expect(failed?.error?.message).toContain('Cannot use "answer 1": found nothing, expected a text, or an object');
  expect(ok).toMatchObject({ status: "ok", text: "Hello" });
});

test("mockModel() says what it read from a cache, wrote to one and thought", async () => {
  const usage = { input: 1000, output: 100, cacheRead: 600, cacheWrite: 300, reasoning: 40 };
  const model = mockModel([{ text: "Hello", usage }], { provider: "anthropic.messages", modelId: "claude-sonnet-4-5" });

  const result = await createAgent({ model, workspace: createWorkspace() }).run("Hi").result;

  expect(result.usage).toMatchObject({ cacheReadTokens: 600, cacheWriteTokens: 300, reasoningTokens: 40 });
  expect(result.cost).toBeCloseTo((100 * 3 + 600 * 0.3 + 300 * 3.75 + 100 * 15) / 1e6, 12);
});

test("mockModel() streams text word by word, and says how it ended", async () => {
  const parts = await partsOf(["Hello big world"]);

  expect(parts.map(({ type }) => type)).toEqual([
    "stream-start",
    "text-start",
    "text-delta",
    "text-delta",
    "text-delta",
    "text-end",
    "finish",
  ]);
  expect(textOf(parts)).toBe("Hello big world");
});

test("mockModel() answers the same as a stream and as a whole", async () => {
  const script: MockAnswer = { reasoning: "Hm", text: "Yes", calls: [{ tool: "add", input: { a: 1 } }] };

  const whole = await mockModel([script]).doGenerate(question);
  const parts = await partsOf([script]);

  expect(whole.content).toEqual([
    { type: "reasoning", text: "Hm" },
    { type: "text", text: "Yes" },
    { type: "tool-call", toolCallId: "call-0-0", toolName: "add", input: '{"a":1}' },
  ]);
  expect(parts.at(-1)).toMatchObject({ type: "finish", finishReason: whole.finishReason, usage: whole.usage });
  expect(parts).toContainEqual(whole.content[2]);
});

test("mockModel() fails when it is asked more often than its script has answers", async () => {
  const model = mockModel(["one"]);
  await model.doGenerate(question);

  const failure = await Promise.resolve(model.doStream(question)).catch((cause: unknown) => cause);

  expect(failure).toMatchObject({ code: "model-failed", details: { reason: expect.stringContaining("2 times") } });
});

test("mockModel() with a function answers what it sees", async () => {
  const model = mockModel(({ prompt }) => `${prompt.length} messages`);

  const { content } = await model.doGenerate(question);

  expect(content).toEqual([{ type: "text", text: "1 messages" }]);
});

test("mockModel() refuses like a provider: the agent waits as long as it is asked to, and asks again", async () => {
  const waits: number[] = [];
  const model = mockModel([{ refused: { status: 429, retryAfterMs: 20 } }, { refused: { status: 529 } }, "Hello"]);
  const patient = withRetries(model, { firstDelayMs: 0, random: () => 0, onRetry: ({ waitMs }) => waits.push(waitMs) });

  const { content } = await patient.doGenerate(question);

  expect(content).toEqual([{ type: "text", text: "Hello" }]);
  expect(waits).toEqual([20, 0]);
  expect(model.asked).toHaveLength(3);
});

test.for<[status: number, code: string]>([
  [400, "model-refused"],
  [401, "model-denied"],
  [404, "model-refused"],
  [413, "model-context-exceeded"],
])("mockModel() that refuses with %i is not asked again", async ([status, code]) => {
  const model = mockModel([{ refused: { status } }, "Hello"]);

  const result = await runWith(model);

  expect(result).toMatchObject({ status: "failed", error: { code } });
  expect(model.asked).toHaveLength(1);
});

test.for<[what: string, answer: MockAnswer]>([
  ["breaks off", { text: "Half of ", breaks: new Error("overloaded") }],
  ["drops the connection", { text: "Half of ", drops: new TypeError("terminated") }],
  ["ends without a finish", { text: "Half of ", cutAfter: 4 }],
])("mockModel() that %s leaves what it had said, and the agent has it go on", async ([, answer]) => {
  const result = await runWith(mockModel([answer, "it"]));

  expect(result).toMatchObject({ status: "ok", text: "Half of it", steps: 2 });
});

test.for<[what: string, answer: MockAnswer]>([
  ["breaks off", { breaks: new Error("broken") }],
  ["drops the connection", { drops: new Error("broken") }],
  ["is cut", { text: "Half", cutAfter: 2 }],
])("mockModel() that %s rejects as a whole", async ([, answer]) => {
  await expect(Promise.resolve(mockModel([answer]).doGenerate(question))).rejects.toThrow(/broken|terminated/u);
});

test("mockModel() sends inputs that are no JSON as they are", async () => {
  const parts = await partsOf([{ calls: [{ tool: "add", input: '{"a": 1' }] }]);

  expect(parts.find(({ type }) => type === "tool-call")).toMatchObject({ input: '{"a": 1' });
});

test("mockModel() cut in the middle of a call asks for none", async () => {
  let made = 0;
  const model = mockModel([{ calls: [{ tool: "count" }], cutAfter: 3 }, "Done"]);

  const result = await runWith(model, () => (made += 1));

  expect(result).toMatchObject({ status: "ok", text: "Done" });
  expect(made).toBe(0);
});

test("mockModel() gets back what belongs to its reasoning", async () => {
  const metadata = { anthropic: { signature: "c2lnbmVk" } };
  const model = mockModel([{ reasoning: { text: "I must count", metadata }, calls: [{ tool: "count" }] }, "Done"]);

  await runWith(model);

  expect(model.asked[1]?.prompt.at(-2)?.content).toContainEqual({
    type: "reasoning",
    text: "I must count",
    providerOptions: metadata,
  });
});

test("mockModel() makes files, and sees them in the next question", async () => {
  const file = { mediaType: "image/png", data: new Uint8Array([1, 2, 3]) };
  const model = mockModel([{ files: [file], calls: [{ tool: "count" }] }, "Done"]);

  const result = await runWith(model);

  expect(result.messages[1]?.content).toContainEqual({
    type: "file",
    mediaType: "image/png",
    data: { type: "data", data: file.data },
  });
});

test("mockModel() waits as long as it is told, before the first part and between parts", async () => {
  const waits: number[] = [];
  const wait = async (ms: number): Promise<void> => void waits.push(ms);

  await partsOf([{ text: "a b", delayMs: 100, partDelayMs: 5 }], wait);

  expect(waits[0]).toBe(100);
  expect(waits.slice(1)).toEqual([5, 5, 5, 5, 5, 5]);
});

test("mockModel() stops to wait when it is aborted", async () => {
  const controller = new AbortController();
  const model = mockModel([{ text: "late", delayMs: 1_000_000 }]);

  const answer = Promise.resolve(model.doStream({ ...question, abortSignal: controller.signal }));
  controller.abort(new Error("enough"));

  await expect(answer).rejects.toThrow("enough");
});

test("shown() says what the model was shown, to be read", async () => {
  const model = mockModel([{ calls: [{ tool: "count" }] }, "Done"]);

  await runWith(model);

  expect(model.shown()).toEqual({
    system: "Be brief",
    tools: ["count"],
    conversation: "user: Go\n  -> count {}\n  <- count 1",
  });
  expect(model.shown(0).conversation).toBe("user: Go");
});

test.for([5, -5, 0.5, Number.NaN])("shown() refuses %d if it was not asked so often", (at) => {
  const model = mockModel(["Hello"]);

  expect(() => model.shown(at)).toThrow(expect.objectContaining({ code: "option-invalid" }));
});

async function partsOf(script: MockScript, wait?: (ms: number) => Promise<void>): Promise<ModelPart[]> {
  const { stream } = await mockModel(script, wait === undefined ? {} : { wait }).doStream(question);
  const parts: ModelPart[] = [];
  for await (const part of stream) parts.push(part);
  return parts;
}

function textOf(parts: readonly ModelPart[]): string {
  return parts.map((part) => (part.type === "text-delta" ? part.delta : "")).join("");
}

async function runWith(model: ReturnType<typeof mockModel>, run: () => unknown = () => 1): Promise<RunResult> {
  const tools = [defineTool({ name: "count", description: "Counts", run })];
  return createAgent({ model, workspace: createWorkspace({ tools }), instructions: "Be brief" }).run("Go").result;
}
