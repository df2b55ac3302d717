import { expect, test } from "vitest";

import { mergeInputs } from "./composed-schemas.ts";

test("mergeInputs() takes a schema that all share as it is, whatever is in it", () => {
  const schema = { $ref: "#/$defs/a", $defs: { a: { type: "object" } } };

  expect(mergeInputs([schema, structuredClone(schema)])).toEqual({ ok: true, schema });
});

test("mergeInputs() is open as soon as one of the schemas is", () => {
  const merged = mergeInputs([
    { type: "object", properties: { a: { type: "string" } }, required: ["a"], additionalProperties: false },
    { type: "object" },
  ]);

  expect(merged).toEqual({
    ok: true,
    schema: { type: "object", properties: { a: { type: "string" } }, required: ["a"], additionalProperties: true },
  });
});

test.for([
  { type: "object", anyOf: [{ required: ["b"] }] },
  { type: "object", additionalProperties: { type: "string" } },
  { type: "object", properties: { a: { $ref: "#/$defs/a" } }, $defs: { a: {} } },
  { type: "object", properties: { a: { type: "number" } } },
])("mergeInputs() cannot put %j together with another one", (schema) => {
  const merged = mergeInputs([{ type: "object", properties: { a: { type: "string" } } }, schema]);

  expect(merged).toMatchObject({ ok: false, problem: { path: "input" } });
});
