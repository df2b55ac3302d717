import { expect, test } from "vitest";

import type { JsonValue } from "../json.ts";
import { coerceInput, type Coercion } from "./coerce.ts";
import { createEngine } from "./engine.ts";
import type { JsonSchema } from "./json-schema.ts";

test.for<[what: string, schema: JsonSchema, before: JsonValue, after: JsonValue]>([
  ["text for a number", { type: "number" }, "1.5", 1.5],
  ["text for a whole number", { type: "integer" }, " 12 ", 12],
  ["text for a boolean", { type: "boolean" }, "true", true],
  ["a number for a boolean", { type: "boolean" }, 1, true],
  ["a number for text", { type: "string" }, 5, "5"],
  ["a boolean for text", { type: "string" }, false, "false"],
  ["one value for a list", { type: "array", items: { type: "string" } }, "a", ["a"]],
  ["one value of the wrong type for a list", { type: "array", items: { type: "integer" } }, "3", [3]],
  ["one object for a list", { type: "array", items: { type: "object" } }, { a: 1 }, [{ a: 1 }]],
  ["one value for a list of anything", { type: "array" }, "a", ["a"]],
  ["one value for a tuple", { type: "array", prefixItems: [{ type: "number" }] }, "1", [1]],
  ["one value for a list of lists", { type: "array", items: { type: "array", items: { type: "number" } } }, 1, [[1]]],
  [
    "one value for a list that may be null",
    { anyOf: [{ type: "array", items: { type: "string" } }, { type: "null" }] },
    "a",
    ["a"],
  ],
  ["text of a list", { type: "array", items: { type: "integer" } }, '["1", 2]', [1, 2]],
  ["text of an object", { type: "object", properties: { n: { type: "integer" } } }, '{"n": "1"}', { n: 1 }],
  ["text of an object in a list", { type: "array", items: { type: "object" } }, ['{"a":1}'], [{ a: 1 }]],
  ["the first type that it can be", { type: ["integer", "boolean"] }, "true", true],
  ["null for something optional", { properties: { a: { type: "string" } } }, { a: null }, {}],
  [
    "null for something with a default",
    { properties: { a: { type: "string", default: "b" } }, required: ["a"] },
    { a: null },
    { a: "b" },
  ],
  [
    "items of a tuple",
    { prefixItems: [{ type: "number" }, { type: "string" }], items: { type: "boolean" } },
    ["1", 2, "no"],
    [1, "2", false],
  ],
  [
    "items of a tuple of draft 7",
    { items: [{ type: "number" }], additionalItems: { type: "string" } },
    ["1", 2],
    [1, "2"],
  ],
  [
    "other properties",
    { properties: { a: {} }, additionalProperties: { type: "number" } },
    { a: "1", b: "2" },
    { a: "1", b: 2 },
  ],
  [
    "properties by pattern",
    { patternProperties: { "^n": { type: "number" } }, additionalProperties: { type: "boolean" } },
    { n1: "1", b: "yes" },
    { n1: 1, b: true },
  ],
  [
    "what a reference points at",
    { properties: { a: { $ref: "#/$defs/n" } }, $defs: { n: { type: "number" } } },
    { a: "1" },
    { a: 1 },
  ],
  [
    "what stands beside a reference",
    {
      $ref: "#/$defs/a",
      properties: { b: { type: "number" } },
      $defs: { a: { properties: { c: { type: "number" } } } },
    },
    { b: "1", c: "2" },
    { b: 1, c: 2 },
  ],
  [
    "all parts of allOf",
    { allOf: [{ properties: { a: { type: "number" } } }, { properties: { b: { type: "number" } } }] },
    { a: "1", b: "2" },
    { a: 1, b: 2 },
  ],
  [
    "properties beside anyOf",
    { properties: { a: { type: "number" } }, anyOf: [{ required: ["a"] }, { required: ["b"] }] },
    { a: "1" },
    { a: 1 },
  ],
  [
    "the first branch that it can be",
    { anyOf: [{ type: "integer", minimum: 10 }, { type: "boolean" }, { type: "number" }] },
    "5",
    5,
  ],
  [
    "a branch of a branch",
    {
      anyOf: [{ anyOf: [{ type: "null" }, { type: "number" }] }, { $ref: "#/$defs/b" }],
      $defs: { b: { type: "boolean" } },
    },
    "true",
    true,
  ],
  [
    "text of an object for a branch",
    { anyOf: [{ type: "object", properties: { n: { type: "number" } } }, { type: "null" }] },
    '{"n":"1"}',
    { n: 1 },
  ],
  [
    "the branch that was meant",
    { oneOf: [branch("a", { n: { type: "number" } }), branch("b", { n: { type: "boolean" } })] },
    { kind: "b", n: "yes" },
    { kind: "b", n: true },
  ],
  [
    "a schema that refers to itself",
    { type: "object", properties: { n: { type: "number" }, next: { $ref: "#" } } },
    { n: "1", next: { n: "2", next: { n: "3" } } },
    { n: 1, next: { n: 2, next: { n: 3 } } },
  ],
])("coerceInput() puts right %s", ([, schema, before, after]) => {
  const { value, coerced } = coerce(schema, before);

  expect(value).toEqual(after);
  expect(coerced.length).toBeGreaterThan(0);
});

test.for<[what: string, schema: JsonSchema, value: JsonValue]>([
  ["text that fits beside a number", { anyOf: [{ type: "number" }, { type: "string" }] }, "1"],
  [
    "a list that fits the second branch",
    {
      anyOf: [
        { type: "array", items: { type: "number" } },
        { type: "array", items: { type: "string" } },
      ],
    },
    ["1"],
  ],
  [
    "null where it is allowed",
    {
      properties: {
        a: { type: ["string", "null"] },
        b: { anyOf: [{ type: "string" }, { type: "null" }] },
        c: { enum: [1, null] },
        d: {},
      },
    },
    { a: null, b: null, c: null, d: null },
  ],
  ["null for something required", { properties: { a: { type: "string" } }, required: ["a"] }, { a: null }],
  ["null for a list", { type: "array" }, null],
  ["null for a branch that is a list", { anyOf: [{ type: "array" }, { type: "string" }] }, null],
  ["text that is no number", { type: "number" }, "12px"],
  ["text that is too large for a number", { type: "number" }, "1e400"],
  ["a fraction for a whole number", { type: "integer" }, 1.5],
  ["an object for text", { type: "string" }, { a: 1 }],
  ["one value for a list that it does not fit", { type: "array", items: { type: "integer" } }, "abc"],
  ["one value for no branch", { anyOf: [{ type: "number" }, { type: "boolean" }] }, "abc"],
  ["one value for a tuple that it does not fit", { type: "array", prefixItems: [{ type: "integer" }] }, "abc"],
  ["text with the key __proto__", { type: "object" }, '{"__proto__":{"admin":true}}'],
  ["a value that nobody looks at", true as unknown as JsonSchema, { a: "1" }],
  ["a value for a schema that refers to nothing", { $ref: "#/$defs/none" }, { a: "1" }],
  ["other properties that may be anything", { properties: { a: {} }, additionalProperties: true }, { b: "1" }],
  ["names that objects inherit", { properties: { a: { type: "number" } } }, { toString: "1", constructor: "2" }],
])("coerceInput() leaves alone %s", ([, schema, value]) => {
  const { value: after, coerced } = coerce(schema, structuredClone(value));

  expect(after).toEqual(value);
  expect(coerced).toEqual([]);
});

test("coerceInput() fills in defaults, without noting them", () => {
  const schema = {
    properties: {
      limit: { type: "integer", default: 10 },
      list: { type: "array", default: [] },
      zero: { default: 0 },
      off: { default: false },
      none: { default: null },
      given: { default: "a" },
      shared: { $ref: "#/$defs/shared" },
      further: { $ref: "#/$defs/further" },
      without: { $ref: "#/$defs/without" },
    },
    $defs: { shared: { default: "b" }, further: { $ref: "#/$defs/shared" }, without: true },
  };

  expect(coerce(schema, { given: "c" })).toEqual({
    value: { limit: 10, list: [], zero: 0, off: false, none: null, given: "c", shared: "b", further: "b" },
    coerced: [],
  });
});

test("coerceInput() fills in the defaults of objects that are given, of items and of defaults", () => {
  const inner = { type: "object", properties: { size: { default: 1 } } };
  const schema = { properties: { a: inner, b: inner, c: { ...inner, default: {} }, d: { items: inner } } };

  expect(coerce(schema, { a: {}, d: [{}, { size: 2 }] }).value).toEqual({
    a: { size: 1 },
    c: { size: 1 },
    d: [{ size: 1 }, { size: 2 }],
  });
});

test("coerceInput() fills in the defaults of the branch that fits", () => {
  const schema = { oneOf: [branch("a", { n: { default: 1 } }), branch("b", { n: { default: 2 } })] };

  expect(coerce(schema, { kind: "b" }).value).toEqual({ kind: "b", n: 2 });
});

test("coerceInput() fills in the defaults of the branch that a text of an object is meant for", () => {
  const schema = { anyOf: [branch("a", { n: { default: 1 } }), branch("b", { n: { default: 2 } })] };

  expect(coerce(schema, '{"kind":"b"}').value).toEqual({ kind: "b", n: 2 });
});

test("coerceInput() asks all branches about a text of an object that one of them has read", () => {
  const first = { type: "object", properties: { a: { default: 1 } } };

  expect(coerce({ anyOf: [first, { allOf: [{ type: "object" }] }] }, "{}").value).toEqual({ a: 1 });
});

test("coerceInput() gives each input a default of its own", () => {
  const schema = { properties: { list: { type: "array", default: [] } } };

  const first = coerce(schema, {}).value as { list: number[] };
  first.list.push(1);

  expect(coerce(schema, {}).value).toEqual({ list: [] });
});

test("coerceInput() notes each change with its path", () => {
  const schema = {
    type: "object",
    properties: {
      limit: { type: "integer" },
      filters: { type: "array", items: { type: "object", properties: { "max size": { type: "number" } } } },
      sort: { type: "string" },
    },
  };

  expect(coerce(schema, { limit: "5", filters: { "max size": "1.5" }, sort: null }).coerced).toEqual([
    { path: "limit", from: '"5"', to: "5" },
    { path: "filters", from: "an object", to: "a list of 1" },
    { path: 'filters[0]["max size"]', from: '"1.5"', to: "1.5" },
    { path: "sort", from: "null", to: "nothing" },
  ]);
});

test("coerceInput() notes the first hundred changes, and how many more there were", () => {
  const many = Array.from({ length: 1000 }, () => "1");

  const { coerced } = coerce({ type: "array", items: { type: "number" } }, many);

  expect(coerced).toHaveLength(101);
  expect(coerced.at(-1)).toEqual({ path: "", from: "900 more values", to: "values that fit" });
});

test("coerceInput() ends for a list of lists of lists without end", () => {
  const schema = { type: "array", items: { $ref: "#" } };

  expect(coerce(schema, "a")).toEqual({ value: "a", coerced: [] });
  expect(coerce(schema, [[], "a"])).toEqual({ value: [[], "a"], coerced: [] });
});

test("R14: coerceInput() ends for a schema that says the same in two ways, at 60 levels", () => {
  const part = { properties: { next: { $ref: "#" }, n: { type: "number" } } };
  let deep: JsonValue = { n: "1" };
  for (let level = 0; level < 60; level++) deep = { next: deep };

  expect(coerce({ allOf: [part, { ...part }] }, deep).coerced).toHaveLength(1);
});

test("R14: coerceInput() ends for a choice that refers to itself, at 60 levels", () => {
  const node = (op: string): JsonSchema => branch(op, { args: { type: "array", items: { $ref: "#" } } });
  let deep: JsonValue = { kind: "none", args: "x" };
  for (let level = 0; level < 60; level++) deep = { kind: "not", args: [deep] };

  expect(coerce({ anyOf: [node("and"), node("or"), node("not")] }, deep).coerced).toEqual([]);
});

function branch(kind: string, properties: JsonSchema): JsonSchema {
  return { type: "object", properties: { kind: { const: kind }, ...properties }, required: ["kind"] };
}

function coerce(schema: JsonSchema, value: JsonValue): { value: JsonValue; coerced: readonly Coercion[] } {
  return coerceInput(schema, value, createEngine(schema));
}
