import { expect, test } from "vitest";

import { toGrammarSchema, withoutGaps } from "./to-grammar-schema.ts";

const city = {
  type: "object",
  properties: { name: { type: "string" }, people: { type: "integer" } },
  required: ["name"],
};

test("toGrammarSchema() lets what may be missing be null, and withoutGaps() takes it out again", () => {
  expect(toGrammarSchema(city)).toEqual({
    type: "object",
    properties: {
      name: { type: "string", maxLength: 10_000 },
      people: { oneOf: [{ type: "integer" }, { type: "null" }] },
    },
  });
  expect(withoutGaps({ name: "Bern", people: null }, city)).toEqual({ name: "Bern" });
  expect(withoutGaps({ name: null, people: 5 }, city)).toEqual({ name: null, people: 5 });
});

test("toGrammarSchema() follows references, choices, lists of types and nested lists", () => {
  const schema = {
    $defs: { unit: { enum: ["C", "F"], description: "the unit" } },
    type: "object",
    properties: {
      unit: { $ref: "#/$defs/unit" },
      days: { type: "array", items: city, maxItems: 3 },
      when: { type: ["string", "null"], format: "date" },
      kind: { anyOf: [{ const: "a" }, { type: "boolean" }] },
    },
    required: ["unit", "days", "when", "kind"],
  };

  expect(toGrammarSchema(schema)).toMatchObject({
    properties: {
      unit: { enum: ["C", "F"], description: "the unit" },
      days: { type: "array", maxItems: 3, items: { type: "object" } },
      when: { oneOf: [{ type: "string", format: "date" }, { type: "null" }] },
      kind: { oneOf: [{ const: "a" }, { type: "boolean" }] },
    },
  });
  expect(withoutGaps({ days: [{ name: "x", people: null }] }, schema)).toEqual({ days: [{ name: "x" }] });
});

test("toGrammarSchema() ends for a schema that refers to itself, and for what is none", () => {
  const tree = { type: "object", properties: { next: { $ref: "#" } }, required: ["next"] };
  const loop = { $defs: { a: { $ref: "#/$defs/a" } }, $ref: "#/$defs/a" };

  expect(JSON.stringify(toGrammarSchema(tree)).length).toBeLessThan(5000);
  expect(toGrammarSchema(loop)).toHaveProperty("oneOf");
  for (const schema of [true, null, 7, "x", [], {}, { $ref: "#/nowhere" }, { type: "teapot" }])
    expect(toGrammarSchema(schema)).toHaveProperty("oneOf");
});

test("toGrammarSchema() lets objects have other properties where the schema does", () => {
  expect(toGrammarSchema({ type: "object", additionalProperties: { type: "number" } })).toEqual({
    type: "object",
    properties: {},
    additionalProperties: { type: "number" },
  });
  expect(toGrammarSchema({ type: "object", properties: {}, additionalProperties: false })).toEqual({
    type: "object",
    properties: {},
  });
});
