import { expect, test } from "vitest";

import { mockModel } from "../testing/models/mock-model.ts";
import { promptTools } from "./prompted/prompt-tools.ts";
import { withRetries } from "./retry/with-retries.ts";
import { balance } from "./route/balance.ts";
import { fallback } from "./route/fallback.ts";

const model = mockModel(["Hello"]);

test.for<[what: string, make: () => unknown, option: string]>([
  ["withRetries", () => withRetries(model, { maxRetrys: 3 } as never), "maxRetrys"],
  ["withRetries", () => withRetries(model, null as never), "options"],
  ["fallback", () => fallback([model], { onFalback: () => undefined } as never), "onFalback"],
  ["fallback", () => fallback([model], { on: ["overloaded"] as never }), "on"],
  ["fallback", () => fallback([model], { on: "model-overloaded" as never }), "on"],
  ["fallback", () => fallback(model as never), "models"],
  ["balance", () => balance([{ model }], { restMS: 3 } as never), "restMS"],
  ["balance", () => balance({ model } as never), "models"],
  ["balance", () => balance([model] as never), "models[0]"],
  ["balance", () => balance([{ model }, null] as never), "models[1]"],
  ["promptTools", () => promptTools(model, { startThinking: true } as never), "startThinking"],
])("%s() refuses an option that is none (%#)", ([, make, option]) => {
  expect(make).toThrow(
    expect.objectContaining({ code: "option-invalid", details: expect.objectContaining({ option }) }),
  );
});

test.for<[what: string, make: (given: never) => unknown]>([
  ["withRetries", (given) => withRetries(given)],
  ["fallback", (given) => fallback([model, given])],
  ["balance", (given) => balance([{ model }, { model: given }])],
  ["promptTools", (given) => promptTools(given)],
])("%s() refuses what is no model", ([, make]) => {
  for (const given of [undefined, null, {}, "openai/gpt-6-sol"]) {
    expect(() => make(given as never)).toThrow(expect.objectContaining({ code: "model-unsupported" }));
  }
});
