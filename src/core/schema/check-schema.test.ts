import { expect, test } from "vitest";

import { describeProblem } from "../errors.ts";
import { checkSchema } from "./check-schema.ts";
import { createEngine } from "./engine.ts";
import type { JsonSchema } from "./json-schema.ts";

test("checkSchema() takes schemas of draft 2020-12", () => {
  expect(
    check({
      type: "object",
      properties: {
        path: { type: "string", minLength: 1, pattern: "^[^\\0]+$", format: "uri" },
        tags: { type: "array", prefixItems: [{ const: 1 }], items: { enum: ["a", null] }, uniqueItems: true },
        point: { $ref: "#/$defs/point", default: { x: 1 } },
        rest: { type: ["string", "null"], default: null },
        any: true,
      },
      required: ["path"],
      additionalProperties: false,
      dependentRequired: { path: ["tags"] },
      if: { required: ["rest"] },
      then: { required: ["any"] },
      $defs: { point: { type: "object", properties: { x: { type: "number", $anchor: "x" }, y: { $ref: "#x" } } } },
    }),
  ).toEqual([]);
});

test("checkSchema() takes schemas of draft 7", () => {
  expect(
    check({
      type: "object",
      properties: { pair: { items: [{ type: "string" }, { $ref: "#/definitions/n" }], additionalItems: false } },
      dependencies: { pair: ["other"], other: { minProperties: 2 } },
      definitions: { n: { type: "number", exclusiveMinimum: 0 } },
    }),
  ).toEqual([]);
});

test("checkSchema() takes a schema that refers to itself for a part of the value", () => {
  expect(
    check({
      type: "object",
      properties: { name: { type: "string" }, children: { type: "array", items: { $ref: "#" } } },
    }),
  ).toEqual([]);
});

test("checkSchema() says everything that is wrong, and where", () => {
  const problems = check({
    type: "objekt",
    properties: {
      a: { type: "text" },
      b: { minimum: "1", maxLength: -1 },
      c: { enum: [] },
      d: 5,
      e: { anyOf: { type: "string" } },
      f: { items: null },
      "odd key": { required: "a" },
    },
    required: [1],
    allOf: [[]],
  });

  expect(problems).toMatchInlineSnapshot(`
    [
      "type: expected one of string, number, integer, boolean, object, array, null, or a list of them, found "objekt"",
      "required: expected a list of names, found a list of 1",
      "properties.a.type: expected one of string, number, integer, boolean, object, array, null, or a list of them, found "text"",
      "properties.b.minimum: expected a number, found "1"",
      "properties.b.maxLength: expected a whole number from 0, found -1",
      "properties.c.enum: expected a list of 1 to 1000 values, found an empty list",
      "properties.d: expected a schema, found 5",
      "properties.e.anyOf: expected a list with at least one schema, found an object",
      "properties.f.items: expected a schema, found null",
      "properties["odd key"].required: expected a list of names, found "a"",
      "allOf[0]: expected a schema, found an empty list",
    ]
  `);
});

test("checkSchema() refuses required properties that could never be there", () => {
  const schema = { properties: { path: {} }, required: ["pth"], additionalProperties: false };

  expect(check(schema)).toEqual(['required: expected names listed under properties, found "pth"']);
  expect(check({ ...schema, additionalProperties: true })).toEqual([]);
  expect(check({ ...schema, patternProperties: { "^p": {} } })).toEqual([]);
  expect(check({ required: ["a"], additionalProperties: false })).toHaveLength(1);
});

test("checkSchema() refuses a default that does not fit, also one behind a reference", () => {
  expect(check({ properties: { n: { type: "integer", default: "1" } } })).toEqual([
    'properties.n.default: expected a value that fits the schema, found "1"',
  ]);
  expect(check({ properties: { n: { $ref: "#/$defs/n", default: -1 } }, $defs: { n: { minimum: 0 } } })).toEqual([
    "properties.n.default: expected a value that fits the schema, found -1",
  ]);
});

test("R11: checkSchema() refuses patterns that can take for ever, of values and of names", () => {
  const problems = check({
    properties: { mail: { pattern: "^(\\w+)+@$" } },
    patternProperties: { "(a|a)*$": {}, "(": {} },
  });

  expect(problems.map((problem) => problem.replace(/\(start.*\), /u, ""))).toMatchInlineSnapshot(`
    [
      "patternProperties["(a|a)*$"]: expected a pattern that can be read in one way only found "(a|a)*$"",
      "patternProperties["("]: expected a regular expression for the flag "u" (Invalid regular expression: /(/u: Unterminated group), found "("",
      "properties.mail.pattern: expected a pattern that can be read in one way only found "^(\\\\w+)+@$"",
    ]
  `);
});

test.for([
  ["nothing", "#/$defs/none"],
  ["another file", "other.json#/a"],
  ["the network", "https://example.com/schema.json"],
  ["a text", "#/title"],
  ["a list", "#/required"],
  ["a value that looks like a schema", "#/default"],
  ["names of properties", "#/properties"],
  ["what objects inherit", "#/constructor"],
  ["an anchor that is not there", "#none"],
  ["an escape that is none", "#/%zz"],
] as const)("R14: checkSchema() refuses a reference to %s", ([, $ref]) => {
  const schema = { title: "a", required: [], default: { pattern: "(a+)+$" }, properties: { a: { $ref } } };

  expect(check(schema)).toEqual([
    `properties.a.$ref: expected a reference to a schema inside this one, found "${$ref}"`,
  ]);
});

test.for<[what: string, schema: JsonSchema]>([
  ["itself", { $ref: "#" }],
  ["itself, through another", { $ref: "#/$defs/a", $defs: { a: { $ref: "#" } } }],
  [
    "itself, through allOf",
    { properties: { a: { $ref: "#/$defs/a" } }, $defs: { a: { allOf: [{ $ref: "#/$defs/a" }] } } },
  ],
  ["itself, through anyOf", { anyOf: [{ type: "string" }, { $ref: "#" }] }],
  ["itself, through not", { not: { $ref: "#" } }],
  ["itself, through if", { if: { $ref: "#" } }],
  ["itself, through a dependency", { dependentSchemas: { a: { $ref: "#" } } }],
])("R14: checkSchema() refuses a schema that comes back to %s", ([, schema]) => {
  expect(check(schema)).toEqual([
    expect.stringContaining("expected a schema that does not refer to itself for the same value"),
  ]);
});

test("R14: checkSchema() refuses references that double what is asked about one value, again and again", () => {
  const $defs: Record<string, JsonSchema> = { d30: { type: "string" } };
  for (let level = 0; level < 30; level++) {
    const next = { $ref: `#/$defs/d${level + 1}` };
    $defs[`d${level}`] = { anyOf: [next, next] };
  }

  expect(check({ $ref: "#/$defs/d0", $defs })).toEqual(['expected at most 1000 schemas for one value, found "more"']);
});

test("R14: checkSchema() refuses 3^9 choices inside choices", () => {
  const nest = (depth: number): JsonSchema =>
    depth === 0 ? { type: "string" } : { anyOf: [nest(depth - 1), nest(depth - 1), nest(depth - 1)] };

  expect(check(nest(9))).toEqual(['expected at most 5000 schemas, found "more"']);
});

test("R14: checkSchema() takes what it takes to check a value of it soon", () => {
  const properties = Object.fromEntries(Array.from({ length: 2000 }, (_, index) => [`p${index}`, { type: "string" }]));
  const choices = Array.from({ length: 1000 }, (_, index) => `choice-${index}`);
  const schema = {
    type: "object",
    properties: { ...properties, choice: { enum: choices } },
    additionalProperties: false,
  };
  expect(check(schema)).toEqual([]);

  expect(createEngine(schema).fits(schema, { p1: "a", choice: "choice-999" })).toBe(true);
});

test("checkSchema() takes properties that are named like keywords, or like what objects inherit", () => {
  const properties = { $id: { type: "string" }, $ref: { type: "string" }, pattern: {}, constructor: {}, toString: {} };

  expect(check({ type: "object", properties })).toEqual([]);
});

function check(schema: JsonSchema): string[] {
  return checkSchema(schema).map(describeProblem);
}
