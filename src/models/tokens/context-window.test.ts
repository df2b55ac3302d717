import { expect, test, vi } from "vitest";

import type { Model } from "../model.ts";
import { loadKnownModels } from "../prices/known-models.ts";
import { contextWindowOf } from "./context-window.ts";

test("contextWindowOf() knows what the data about models knows, once that is loaded", async () => {
  await loadKnownModels();

  expect(contextWindowOf(fakeModel("openai.responses", "gpt-6-sol"))).toBe(1_050_000);
  expect(contextWindowOf(fakeModel("google.generative-ai", "gemini-2.5-flash"))).toBe(1_048_576);
});

test("contextWindowOf() knows families before, and looks again after", async () => {
  vi.resetModules();
  const { contextWindowOf: fresh } = await import("./context-window.ts");
  const { loadKnownModels: load } = await import("../prices/known-models.ts");
  const model = fakeModel("openai.responses", "gpt-6-sol");

  const before = fresh(model);
  await load();

  expect(before).toBe(400_000);
  expect(fresh(model)).toBe(1_050_000);
  expect(fresh(model)).toBe(1_050_000);
});

test.for([
  ["gateway", "anthropic/claude-sonnet-9", 200_000],
  ["openai-compatible.chat", "GPT-4o", 128_000],
  ["openai-compatible.chat", "gpt-4", 8192],
  ["mystery", "something-else", undefined],
  ["ollama.chat", "mistral", undefined],
  ["kitbag.local", "local", undefined],
  ["__proto__", "constructor", undefined],
] as const)("contextWindowOf() says of %s %s: %s", ([provider, modelId, expected]) => {
  expect(contextWindowOf(fakeModel(provider, modelId))).toBe(expected);
});

test("contextWindowOf() takes one's own first, and none that is no number of tokens", () => {
  const model = fakeModel("ollama.chat", "qwen3");
  const own = { "ollama/*": 32_768, "ollama/qwen3": Number.NaN };

  expect(contextWindowOf(model, own)).toBe(32_768);
  expect(contextWindowOf(model, own)).toBe(32_768);
  expect(contextWindowOf(model, { "openai/*": 1 })).toBeUndefined();
});

function fakeModel(provider: string, modelId: string): Model {
  const unasked = (): never => {
    throw new Error("nobody asks");
  };
  return { specificationVersion: "v4", provider, modelId, supportedUrls: {}, doGenerate: unasked, doStream: unasked };
}
