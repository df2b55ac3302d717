import fc from "fast-check";
import { expect, test } from "vitest";

import type { ModelMessage, ModelTool } from "../../models/model.ts";
import { toNativeChange } from "../../models/tool-changes.ts";
import { estimateMessageTokens } from "../../models/tokens/estimate-tokens.ts";
import { atMostTokens } from "./create-memory.ts";
import { countSaid } from "./message-text.ts";
import { answer, call, results, user } from "../../../test/support/conversations.ts";

const models = [
  { provider: "openai", modelId: "gpt-5" },
  { provider: "anthropic", modelId: "claude-sonnet-4-5" },
];

test("atMostTokens() never says less than the estimate", () => {
  const text = fc.oneof(
    fc.string({ unit: "binary" }),
    fc.string(),
    fc.lorem(),
    fc.constantFrom("\u0000\u0001", "日本語", "\uD83D"),
  );
  const value = fc.oneof(fc.jsonValue(), fc.dictionary(text, fc.oneof(text, fc.double())), text);
  const message = fc.oneof(
    text.map(user),
    text.map(answer),
    fc.tuple(text, value).map(([name, input]) => call("a", name, input)),
    fc.array(value).map((values) => results(...values.map((output): [string, unknown] => ["a", output]))),
    text.map((content): ModelMessage => ({ role: "system", content })),
    text.map((name) => toNativeChange({ added: [toTool(name)], removed: [name] })),
  );

  fc.assert(
    fc.property(message, fc.constantFrom(...models), (given, model) => {
      expect(atMostTokens(given, model)).toBeGreaterThanOrEqual(countSaid(given, model));
    }),
    { numRuns: 2000 },
  );
});

test("atMostTokens() leaves to the estimate what it cannot say: pictures, what says itself what it is, what is too deep", () => {
  const deep: { inside?: object } = {};
  let inner = deep;
  for (let depth = 0; depth < 10_000; depth++) inner = inner.inside = {};
  const picture: ModelMessage = {
    role: "user",
    content: [
      { type: "file", mediaType: "image/png", data: { type: "url", url: new URL("https://example.com/a.png") } },
    ],
  };

  expect(atMostTokens(picture, models[0] as never)).toBe(estimateMessageTokens(picture, models[0]));
  expect(atMostTokens(call("a", "look", { at: new Date(0) }), models[0] as never)).toBe(Infinity);
  expect(atMostTokens(call("a", "look", deep), models[0] as never)).toBe(Infinity);
});

function toTool(name: string): ModelTool {
  return {
    type: "function",
    name,
    description: name.repeat(9),
    inputSchema: { type: "object", title: name.repeat(9) },
  };
}
