import { expect, test } from "vitest";

import type { ModelMessage, ModelTool } from "../model.ts";
import { toNativeChange } from "../tool-changes.ts";
import { countText } from "./count-text.ts";
import { estimateMessageTokens, estimatePromptTokens, estimateToolTokens } from "./estimate-tokens.ts";

const claude = { provider: "anthropic.messages", modelId: "claude-sonnet-4-5" };
const gemini = { provider: "google.generative-ai", modelId: "gemini-2.5-flash" };
const gpt = { provider: "openai.responses", modelId: "gpt-6-sol" };

test("estimateMessageTokens() counts texts, reasoning, calls and results", () => {
  const text = "a few words of text";
  const of = countText(text).usual;

  expect(estimateMessageTokens({ role: "system", content: text })).toBe(4 + of);
  expect(estimateMessageTokens(says(text))).toBe(4 + of);
  expect(estimateMessageTokens({ role: "assistant", content: [{ type: "reasoning", text }] })).toBe(4 + of);
  expect(estimateMessageTokens(calls({ city: "Rome" }))).toBeGreaterThan(4 + 4 + 3);
  expect(estimateMessageTokens(answers({ type: "text", value: text }))).toBe(4 + 4 + of);
  expect(estimateMessageTokens(answers({ type: "content", value: [{ type: "text", text }] }))).toBe(4 + 4 + of);
  expect(estimateMessageTokens(answers({ type: "execution-denied", reason: text }))).toBe(4 + 4 + of);
});

test("estimateMessageTokens() counts more for Claude", () => {
  const message = says("Кошка сидела на окне и смотрела, как падает снег. ".repeat(10));

  const usual = estimateMessageTokens(message, gpt);

  expect(estimateMessageTokens(message, claude)).toBeGreaterThan(usual * 1.4);
  expect(estimateMessageTokens(message)).toBe(usual);
});

test("estimateMessageTokens() looks at a message once", () => {
  let reads = 0;
  const message = {
    role: "user",
    get content() {
      reads += 1;
      return [{ type: "text", text: "hello" }];
    },
  } as unknown as ModelMessage;
  const first = estimateMessageTokens(message);
  const readsOfFirst = reads;

  const second = estimateMessageTokens(message, claude);

  expect(reads).toBe(readsOfFirst);
  expect(second).toBeGreaterThanOrEqual(first);
});

test("estimateMessageTokens() counts a picture by its size, as each provider does", () => {
  const message = shows(png(1000, 1000));
  const text = estimateMessageTokens(says(""));

  expect(estimateMessageTokens(message, claude) - text).toBe(Math.ceil(1_000_000 / 750));
  expect(estimateMessageTokens(message, gemini) - text).toBe(258 * 4);
  expect(estimateMessageTokens(message, gpt) - text).toBe(85 + 170 * 4);
});

test("estimateMessageTokens() counts a picture as base64 like the same as bytes, and a large one like one made smaller", () => {
  const bytes = png(300, 200);
  const huge = shows(png(9000, 9000));

  expect(estimateMessageTokens(shows(Buffer.from(bytes).toString("base64")), gemini)).toBe(
    estimateMessageTokens(shows(bytes), gemini),
  );
  expect(estimateMessageTokens(huge, claude)).toBe(4 + 1600);
  expect(estimateMessageTokens(huge, gpt)).toBe(4 + 85 + 170 * 4);
});

test("estimateMessageTokens() takes a picture that nobody can look at for one of the usual size", () => {
  const usual = estimateMessageTokens(shows(png(1024, 1024)), gpt);

  expect(estimateMessageTokens(shows(new Uint8Array()), gpt)).toBe(usual);
  expect(estimateMessageTokens(shows("no picture"), gpt)).toBe(usual);
  const data = { type: "url", url: new URL("https://example.com/a.png") } as const;
  const behindUrl: ModelMessage = { role: "user", content: [{ type: "file", mediaType: "image/*", data }] };
  expect(estimateMessageTokens(behindUrl, gpt)).toBe(usual);
});

test("estimateMessageTokens() counts files by their text or their bytes", () => {
  const text = "some words in a file";
  const inline: ModelMessage = {
    role: "user",
    content: [{ type: "file", mediaType: "text/plain", data: { type: "text", text } }],
  };

  expect(estimateMessageTokens(inline)).toBe(4 + countText(text).usual);
  expect(estimateMessageTokens(shows(Buffer.from(text), "text/plain"))).toBe(4 + countText(text).usual);
  expect(estimateMessageTokens(shows(new Uint8Array(120_000), "application/pdf"))).toBe(4 + 3 * 1500);
});

test.for([
  ["a part that nobody knows", [{ type: "hologram", text: "hi" }]],
  ["no part", [null, undefined, 3, "text"]],
  ["no content", undefined],
  ["a content that is a number", 3],
  ["a cycle", [{ type: "tool-call", toolName: "t", input: cycle() }]],
  ["what is too deep", [{ type: "tool-result", output: { type: "json", value: deep(100_000) } }]],
  ["a bigint", [{ type: "tool-call", toolName: "t", input: { n: 1n } }]],
  ["a result without output", [{ type: "tool-result" }]],
  ["a file without data", [{ type: "file", mediaType: 3 }]],
] as const)("estimateMessageTokens() takes %s", ([, content]) => {
  const tokens = estimateMessageTokens({ role: "user", content } as unknown as ModelMessage);

  expect(tokens).toBeGreaterThanOrEqual(4);
  expect(tokens).toBeLessThan(2000);
});

test("estimateToolTokens() counts the name, the description, the schema and the examples", () => {
  const plain: ModelTool = { type: "function", name: "t", inputSchema: { type: "object" } };
  const whole: ModelTool = {
    ...plain,
    description: "Tells how warm it is.",
    inputExamples: [{ input: { city: "Rome" } }],
  };

  expect(estimateToolTokens(whole)).toBe(
    estimateToolTokens(plain) +
      countText("Tells how warm it is.").usual +
      countText('[{"input":{"city":"Rome"}}]').usual,
  );
});

test("estimatePromptTokens() is the sum of the system text, the messages and the tools", () => {
  const messages = [says("one"), says("two and three")];
  const tools: ModelTool[] = [{ type: "function", name: "t", inputSchema: { type: "object" } }];

  const tokens = estimatePromptTokens({ system: "Be brief.", messages, tools }, claude);

  const parts = messages.map((message) => estimateMessageTokens(message, claude));
  const tool = tools.map((each) => estimateToolTokens(each, claude));
  expect(tokens).toBe([...parts, ...tool].reduce((sum, part) => sum + part, countText("Be brief.").claude));
});

test("estimatePromptTokens() counts only what is new in a list that grew, and all of one that was changed", () => {
  const messages = [says("one"), says("two")];
  const before = estimatePromptTokens({ messages }, gpt);

  messages.push(says("three"));
  const grown = estimatePromptTokens({ messages }, gpt);
  messages.splice(0, 1);
  const shrunk = estimatePromptTokens({ messages }, gpt);
  messages.pop();
  messages.push(says("another one that is longer"));
  const replaced = estimatePromptTokens({ messages }, gpt);

  expect(grown).toBe(before + estimateMessageTokens(says("three")));
  expect(shrunk).toBe(grown - estimateMessageTokens(says("one")));
  expect(replaced).toBe(estimateMessageTokens(says("two")) + estimateMessageTokens(says("another one that is longer")));
});

test("estimatePromptTokens() counts the same list for different models as each counts", () => {
  const messages = [says("Кошка сидела на окне. ".repeat(20))];

  const first = estimatePromptTokens({ messages }, gpt);
  const second = estimatePromptTokens({ messages }, claude);

  expect(second).toBeGreaterThan(first);
  expect(estimatePromptTokens({ messages }, gpt)).toBe(first);
});

test("estimatePromptTokens() remembers few of many system texts", () => {
  const first = estimatePromptTokens({ system: "system text 0", messages: [] }, gpt);

  for (let index = 0; index < 100; index++) estimatePromptTokens({ system: `system text ${index}`, messages: [] }, gpt);

  expect(estimatePromptTokens({ system: "system text 0", messages: [] }, gpt)).toBe(first);
});

test("estimateMessageTokens() counts the tools that a message adds to the list of Anthropic's models", () => {
  const inputSchema = { type: "object", properties: { city: { type: "string" } } } as const;
  const tool = { type: "function", name: "weather", description: "Tells how warm it is", inputSchema } as const;
  const change = toNativeChange({ added: [tool], removed: ["wind"] });

  expect(estimateMessageTokens(change)).toBeGreaterThan(estimateToolTokens(tool));
});

function says(text: string): ModelMessage {
  return { role: "user", content: [{ type: "text", text }] };
}

function calls(input: unknown): ModelMessage {
  return { role: "assistant", content: [{ type: "tool-call", toolCallId: "1", toolName: "weather", input }] };
}

type ResultOutput = Extract<
  Extract<ModelMessage, { role: "tool" }>["content"][number],
  { type: "tool-result" }
>["output"];

function answers(output: ResultOutput): ModelMessage {
  return { role: "tool", content: [{ type: "tool-result", toolCallId: "1", toolName: "weather", output }] };
}

function shows(data: Uint8Array | string, mediaType = "image/png"): ModelMessage {
  return { role: "user", content: [{ type: "file", mediaType, data: { type: "data", data } }] };
}

/** The chunks of a PNG that are looked at, with no pixels in it. */
function png(width: number, height: number): Uint8Array {
  const header = Buffer.alloc(25);
  header.writeUInt32BE(13);
  header.write("IHDR", 4);
  header.writeUInt32BE(width, 8);
  header.writeUInt32BE(height, 12);
  const end = Buffer.alloc(12);
  end.write("IEND", 4);
  return Buffer.concat([Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]), header, end]);
}

function cycle(): object {
  const value: { self?: object } = {};
  value.self = value;
  return value;
}

function deep(levels: number): unknown {
  let value: unknown = 1;
  for (let level = 0; level < levels; level++) value = [value];
  return value;
}
