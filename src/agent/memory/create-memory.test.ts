import { expect, test } from "vitest";

import { user } from "../../../test/support/conversations.ts";
import type { ModelMessage } from "../../models/model.ts";
import { toNativeChange } from "../../models/tool-changes.ts";
import { mockModel } from "../../testing/models/mock-model.ts";
import { createMemory, type MemoryParts } from "./create-memory.ts";
import { checkMemoryOptions, limitsOf, type Memory, type MemoryOptions } from "./memory-options.ts";

const view = { system: "", tools: [] };

test("isFull() tells when the limit of tokens is passed, and not before", () => {
  const memory = createTestMemory({ maxTokens: 1000 });
  const messages = Array.from({ length: 90 }, () => user("two words"));

  expect(memory.isFull(view, messages)).toBe(false);
  messages.push(user("word ".repeat(500)));
  expect(memory.isFull(view, messages)).toBe(true);
});

test("isFull() tells when there are too many messages", () => {
  const memory = createTestMemory({ maxMessages: 10 });
  const messages = Array.from({ length: 10 }, () => user("Hello"));

  expect(memory.isFull(view, messages)).toBe(false);
  messages.push(user("Hello"));
  expect(memory.isFull(view, messages)).toBe(true);
});

test("isFull() looks at each message once while everything fits", () => {
  const memory = createTestMemory({ maxTokens: 100_000 });
  let reads = 0;
  const messages: ModelMessage[] = [];
  const add = (): void => {
    const { content } = user("Hello");
    const message = { role: "user" };
    Object.defineProperty(message, "content", { enumerable: true, get: () => ((reads += 1), content) });
    messages.push(message as ModelMessage);
  };

  const readsByStep = Array.from({ length: 100 }, () => {
    add();
    reads = 0;
    memory.isFull(view, messages);
    return reads;
  });

  expect(new Set(readsByStep).size).toBe(1);
});

test("isFull() takes tools that were announced for tools: they have a part of the window, and none of maxTokens", () => {
  const words = "word ".repeat(2000);
  const tool = { type: "function", name: "look", description: words, inputSchema: { type: "object" } } as const;
  const messages = [user("Hello"), toNativeChange({ added: [tool], removed: [] }), user("word ".repeat(1500))];
  const without = messages.filter(({ role }) => role !== "system");
  const isFull = (options: MemoryOptions, of: readonly ModelMessage[]): boolean =>
    createTestMemory(options).isFull(view, of);

  expect(isFull({ maxTokens: 1700 }, messages)).toBe(false);
  expect(isFull({ windows: { "*": 4000 } }, without)).toBe(false);
  expect(isFull({ windows: { "*": 4000 } }, messages)).toBe(true);
});

test("isFull() counts anew when there is another list", () => {
  const memory = createTestMemory({ maxTokens: 256 });
  const long = [user("word ".repeat(400))];

  expect([memory.isFull(view, long), memory.isFull(view, [user("Hi")]), memory.isFull(view, long)]).toEqual([
    true,
    false,
    true,
  ]);
});

test("isFull() is never true of Kitbag's own models, unless somebody says so", () => {
  const messages = [user("word ".repeat(2_000_000))];

  expect(createTestMemory({}).isFull(view, messages)).toBe(false);
  expect(createTestMemory({ windows: { "kitbag/mock": 8000 } }).isFull(view, messages)).toBe(true);
});

test.for<
  [
    what: string,
    options: MemoryOptions,
    given: { provider?: string; modelId?: string; output?: number },
    tokens: number,
  ]
>([
  ["a model that is known", {}, { provider: "anthropic", modelId: "claude-sonnet-4-5" }, 180_000 - 8192],
  ["a model that is not known", {}, { provider: "acme", modelId: "m" }, Math.floor(32_768 * 0.9 - 32_768 * 0.2)],
  ["a window of one's own", { windows: { "acme/*": 10_000 } }, { provider: "acme.chat", modelId: "m" }, 7000],
  [
    "an answer of a certain length",
    { windows: { "acme/m": 10_000 } },
    { provider: "acme", modelId: "m", output: 500 },
    8500,
  ],
  [
    "an answer longer than the window",
    { windows: { "acme/m": 10_000 } },
    { provider: "acme", modelId: "m", output: 90_000 },
    4000,
  ],
  ["a limit below the window", { maxTokens: 5000 }, { provider: "acme", modelId: "m" }, 5000],
  [
    "a limit above the window",
    { maxTokens: 500_000, windows: { "*": 10_000 } },
    { provider: "acme", modelId: "m" },
    7000,
  ],
  ["no limit at all", { windows: { "*": Infinity } }, { provider: "acme", modelId: "m" }, Infinity],
])("limitsOf() leaves room for the answer: %s", ([, options, { output, ...names }, tokens]) => {
  expect(limitsOf(options, mockModel([], names), view, output).tokens).toBe(tokens);
});

test("limitsOf() counts the system text and the tools, and leaves the least that makes sense", () => {
  const system = "word ".repeat(3000);
  const model = mockModel([], { provider: "acme" });
  const options = { windows: { "acme/*": 4000 } };

  expect(limitsOf(options, model, { system, tools: [] }, undefined).tokens).toBe(256);
  expect(limitsOf({}, model, { system: system.repeat(20), tools: [] }, undefined).tokens).toBeGreaterThan(50_000);
});

test.for<[name: string, options: unknown]>([
  ["memory", 7],
  ["memory", null],
  ["memory.maxMessages", { maxMessages: 7 }],
  ["memory.maxTokens", { maxTokens: 10 }],
  ["memory.maxTokens", { maxTokens: Number.NaN }],
  ["memory.maxTokens", { maxTokens: "1000" }],
  ["memory.keepRecent", { keepRecent: -1 }],
  ["memory.summaryTimeoutMs", { summaryTimeoutMs: 0 }],
  ["memory.summarise", { summarise: true }],
  ["memory.summaryModel", { summaryModel: {} }],
  ["memory.summaryModel", { summaryModel: null }],
  ["memory.pin", { pin: "all" }],
  ["memory.windows", { windows: 7 }],
  ["memory.windows", { windows: { "gpt-4o": 8000 } }],
  ['memory.windows["a/b"]', { windows: { "a/b": -1 } }],
])("checkMemoryOptions() refuses %s of %j", ([option, options]) => {
  expect(() => checkMemoryOptions(options as MemoryOptions)).toThrow(
    expect.objectContaining({ code: "option-invalid", details: expect.objectContaining({ option }) }),
  );
});

function createTestMemory(options: MemoryOptions): Memory {
  const model = mockModel([]);
  const findModel: MemoryParts["findModel"] = () => ({ model, name: "kitbag.mock/mock", priceOf: () => 0 });
  return createMemory({ options, model, maxOutputTokens: undefined, findModel, mayAsk: () => true });
}
