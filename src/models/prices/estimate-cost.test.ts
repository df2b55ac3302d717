import { expect, test } from "vitest";

import type { Model, ModelMessage } from "../model.ts";
import { estimatePromptTokens } from "../tokens/estimate-tokens.ts";
import { estimateCost } from "./estimate-cost.ts";
import { createPriceOf } from "./price-of.ts";

const messages: ModelMessage[] = [{ role: "user", content: [{ type: "text", text: "word ".repeat(1000) }] }];

test("estimateCost() is between all from the cache without an answer, and nothing from it with the longest", async () => {
  const model = fakeModel("acme", "m");
  const priceOf = await createPriceOf(model, { prices: { "acme/m": { input: 10, output: 100, cacheRead: 1 } } });
  const tokens = estimatePromptTokens({ messages }, model);

  const estimate = estimateCost(model, priceOf, { messages, maxOutputTokens: 1000 });

  expect(estimate.inputTokens).toBe(tokens);
  expect(estimate.least).toBeCloseTo(Math.floor(tokens * 0.8) / 1e6, 12);
  expect(estimate.most).toBeCloseTo((tokens * 10 + 1000 * 100) / 1e6, 12);
});

test("estimateCost() does not know the most if the answer may be of any length, and nothing if there is no price", async () => {
  const known = await createPriceOf(fakeModel("openai.chat", "gpt-4o"));
  const unknown = await createPriceOf(fakeModel("acme", "m"));

  expect(estimateCost(fakeModel("openai.chat", "gpt-4o"), known, { messages }).most).toBeUndefined();
  expect(estimateCost(fakeModel("acme", "m"), unknown, { messages, maxOutputTokens: 1 })).toMatchObject({
    least: undefined,
    most: undefined,
  });
});

test("estimateCost() takes no prompt for longer than the model takes", async () => {
  const model = fakeModel("openai-compatible.chat", "gpt-4");
  const long: ModelMessage[] = [{ role: "user", content: [{ type: "text", text: "word ".repeat(20_000) }] }];

  const { inputTokens } = estimateCost(model, await createPriceOf(model), { messages: long });

  expect(inputTokens).toBe(8192);
});

function fakeModel(provider: string, modelId: string): Model {
  const unasked = (): never => {
    throw new Error("nobody asks");
  };
  return { specificationVersion: "v4", provider, modelId, supportedUrls: {}, doGenerate: unasked, doStream: unasked };
}
