import { expect, test } from "vitest";

import { question, readParts, scriptedModel, textParts } from "../../../test/support/scripted-models.ts";
import type { ModelCall } from "../model.ts";
import { withSettings } from "./with-settings.ts";

const settings = {
  temperature: 0,
  topP: 0.9,
  topK: 5,
  maxOutputTokens: 99,
  reasoning: "low",
  stop: ["END"],
  seed: 7,
} as const;

test("withSettings() tells the model its settings with every question, streamed or not", async () => {
  const inner = scriptedModel([{ parts: textParts("a") }]);
  const model = withSettings(inner, settings);

  await readParts(model);
  await model.doGenerate(question);

  const { stop, ...others } = settings;
  const expected = { ...question, ...others, stopSequences: [...stop] };
  expect(inner.calls).toEqual([expected, expected]);
});

test("withSettings() lets the question go before the settings, unless it says nothing", async () => {
  const inner = scriptedModel([{ parts: textParts("a") }]);
  const call = { ...question, temperature: 1, seed: undefined, stopSequences: [] } as unknown as ModelCall;

  await readParts(withSettings(inner, settings), call);

  expect(inner.calls[0]).toMatchObject({ temperature: 1, seed: 7, stopSequences: [], maxOutputTokens: 99 });
});

test("withSettings() puts the options of providers together, name by name", async () => {
  const inner = scriptedModel([{ parts: textParts("a") }]);
  const model = withSettings(inner, { providerOptions: { openai: { store: false, user: "a" }, google: { x: 1 } } });

  await readParts(model, { ...question, providerOptions: { openai: { user: "b" }, anthropic: { y: 2 } } });

  expect(inner.calls[0]?.providerOptions).toEqual({
    openai: { store: false, user: "b" },
    google: { x: 1 },
    anthropic: { y: 2 },
  });
});

test("withSettings() around withSettings(): the one inside decides only what the one outside leaves open", async () => {
  const inner = scriptedModel([{ parts: textParts("a") }]);

  await readParts(withSettings(withSettings(inner, { temperature: 0, seed: 1 }), { temperature: 1 }));

  expect(inner.calls[0]).toMatchObject({ temperature: 1, seed: 1 });
});

test("withSettings() does not change the question that it was given", async () => {
  const call: ModelCall = Object.freeze({ ...question });

  await readParts(withSettings(scriptedModel([{ parts: textParts("a") }]), settings), call);

  expect(call).toEqual(question);
});
