import { expect, test } from "vitest";
import { z } from "zod";

import { describeProblem } from "../errors.ts";
import { createEngine } from "./engine.ts";
import { findProblems } from "./find-problems.ts";
import type { JsonSchema } from "./json-schema.ts";

test("findProblems() says every problem at once, with its path, what was expected and what was found", () => {
  const schema = {
    type: "object",
    properties: {
      query: { type: "string", minLength: 3 },
      limit: { type: "integer", maximum: 100 },
      sort: { enum: ["newest", "oldest", "relevance"] },
      filters: {
        type: "array",
        items: {
          type: "object",
          properties: { field: { type: "string" }, size: { type: "number" } },
          required: ["field"],
          additionalProperties: false,
        },
      },
      "odd name": { type: "boolean" },
      tags: { type: "array", items: { type: "string" }, uniqueItems: true },
    },
    required: ["query", "limit"],
    additionalProperties: false,
  };

  expect(
    problems(schema, {
      query: "a",
      sort: "newst",
      filters: [{ field: "a", size: "big" }, { feild: "b" }, 5],
      "odd name": "yes!",
      tags: ["a", "a"],
      limt: 5,
    }),
  ).toMatchInlineSnapshot(`
    [
      "limit: expected a whole number, found nothing",
      "query: expected at least 3 characters, found "a"",
      "sort: expected one of "newest", "oldest", "relevance", found "newst" (did you mean "newest"?)",
      "filters[0].size: expected a number, found "big"",
      "filters[1].field: expected a string, found nothing",
      "filters[1].feild: expected only field, size, found an unknown parameter (did you mean "field"?)",
      "filters[2]: expected an object, found 5",
      "["odd name"]: expected true or false, found "yes!"",
      "tags: expected items that are all different, found a list of 2",
      "limt: expected only query, limit, sort, filters, ["odd name"], tags, found an unknown parameter (did you mean "limit"?)",
    ]
  `);
});

test("findProblems() tells the nearest name of an unknown parameter, at any level", () => {
  const inner = { type: "object", properties: { size: {} }, additionalProperties: false };
  const schema = { type: "object", properties: { filter: inner }, additionalProperties: false };

  expect(problems(schema, { fitler: {}, filter: { siez: 1 }, xyz: 1 })).toMatchInlineSnapshot(`
    [
      "fitler: expected only filter, found an unknown parameter (did you mean "filter"?)",
      "filter.siez: expected only size, found an unknown parameter (did you mean "size"?)",
      "xyz: expected only filter, found an unknown parameter",
    ]
  `);
});

test("findProblems() tells what a tool takes that takes nothing", () => {
  expect(problems({ type: "object", properties: {}, additionalProperties: false }, { a: 1 })).toEqual([
    "a: expected no parameters, found an unknown parameter",
  ]);
});

test("findProblems() tells the nearest of the allowed values", () => {
  expect(problems({ enum: ["celsius", "fahrenheit"] }, "Celcius")).toEqual([
    'expected one of "celsius", "fahrenheit", found "Celcius" (did you mean "celsius"?)',
  ]);
  expect(problems({ const: "json" }, "jsno")).toEqual(['expected "json", found "jsno" (did you mean "json"?)']);
  expect(problems({ enum: [1, 2] }, 3)).toEqual(["expected one of 1, 2, found 3"]);
  expect(problems({ enum: [{ a: 1 }, null] }, { a: 2 })).toEqual(["expected one of an object, null, found an object"]);
});

test("findProblems() says about a choice of texts which there are", () => {
  const schema = z.toJSONSchema(z.union([z.literal("small"), z.literal("medium"), z.enum(["large", "huge"])]));

  expect(problems(schema, "lage")).toEqual([
    'expected one of "small", "medium", "large", "huge", found "lage" (did you mean "large"?)',
  ]);
});

test("findProblems() says about a choice of types which there are", () => {
  expect(problems({ anyOf: [{ type: "string" }, { type: "number" }, { type: "null" }] }, true)).toEqual([
    "expected a string or a number or null, found true",
  ]);
  expect(problems({ anyOf: [{ type: "string", minLength: 3 }, { type: "number" }] }, "a")).toEqual([
    'expected at least 3 characters, found "a"',
  ]);
});

const shape = z.toJSONSchema(
  z.object({
    shape: z.discriminatedUnion("kind", [
      z.object({ kind: z.literal("circle"), radius: z.number() }),
      z.object({ kind: z.literal("square"), side: z.number().max(10), corner: z.enum(["sharp", "round"]).optional() }),
    ]),
  }),
);

test("findProblems() says about a choice of objects what is wrong with the one that was meant", () => {
  expect(problems(shape, { shape: { kind: "square", side: 20, corner: "rond" } })).toMatchInlineSnapshot(`
    [
      "shape.side: expected at most 10, found 20",
      "shape.corner: expected one of "sharp", "round", found "rond" (did you mean "round"?)",
    ]
  `);
});

test("findProblems() says about a choice of objects which kinds there are", () => {
  expect(problems(shape, { shape: { kind: "circel", radius: 1 } })).toEqual([
    'shape.kind: expected one of "circle", "square", found "circel" (did you mean "circle"?)',
  ]);
  expect(problems(shape, { shape: { radius: 1 } })).toEqual([
    'shape.kind: expected one of "circle", "square", found nothing',
  ]);
});

test("findProblems() says about a choice of objects without a kind what is wrong with the likeliest", () => {
  const schema = {
    anyOf: [
      { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
      {
        type: "object",
        properties: { latitude: { type: "number" }, longitude: { type: "number" } },
        required: ["latitude", "longitude"],
      },
    ],
  };

  expect(problems(schema, { latitude: 1, longitude: "east" })).toEqual(['longitude: expected a number, found "east"']);
  expect(problems(schema, { city: 5 })).toEqual(["city: expected a string, found 5"]);
});

test("findProblems() says about an object that may be null what is wrong with the object", () => {
  const schema = { anyOf: [{ type: "object", properties: { a: { type: "number" } } }, { type: "null" }] };

  expect(problems(schema, { a: "b" })).toEqual(['a: expected a number, found "b"']);
});

test("findProblems() says nothing about a choice that fits, and about properties that take anything", () => {
  const schema = { properties: { a: true }, anyOf: [{ required: ["a"] }, { required: ["b"] }], maxProperties: 1 };

  expect(problems(schema, { a: 1, c: 2 })).toEqual(["expected at most 1 property, found 2 properties"]);
});

test("findProblems() lists a choice of objects if it cannot tell which was meant", () => {
  const object = (name: string): JsonSchema => ({ type: "object", properties: { [name]: {} }, required: [name] });
  const schema = { anyOf: [object("radius"), object("side")] };

  expect(problems(schema, { colour: "red" })).toEqual([
    "expected an object with radius or an object with side, found an object with colour",
  ]);
  expect(problems(schema, {})).toEqual([
    "expected an object with radius or an object with side, found an object without properties",
  ]);
  expect(problems(schema, 5)).toEqual(["expected an object with radius or an object with side, found 5"]);
});

test("findProblems() says that a value fits too many of a choice", () => {
  expect(problems({ oneOf: [{ minimum: 5 }, { multipleOf: 2 }, { const: 0 }] }, 6)).toEqual([
    "expected a value for only one of 3 (anything or 0), found one that fits 2 of them",
  ]);
});

test("findProblems() looks through references, also of a schema that refers to itself", () => {
  const schema = {
    type: "object",
    properties: { name: { $ref: "#/$defs/name" }, children: { type: "array", items: { $ref: "#" } } },
    required: ["name"],
    $defs: { name: { type: "string", minLength: 2 } },
  };

  expect(problems(schema, { name: "ab", children: [{ name: "a" }, { children: [{ name: 5 }] }] })).toEqual([
    'children[0].name: expected at least 2 characters, found "a"',
    "children[1].name: expected a string, found nothing",
    "children[1].children[0].name: expected a string, found 5",
  ]);
});

test.for<[what: string, schema: JsonSchema, value: unknown, problems: string[]]>([
  ["a false schema", { properties: { a: false } }, { a: 1 }, ["a: expected nothing, found 1"]],
  ["every part of allOf", { allOf: [{ minimum: 5 }, { multipleOf: 2 }] }, 3, ["expected at least 5, found 3"]],
  ["not", { not: { type: "string" } }, "a", ['expected anything but a string, found "a"']],
  [
    "then",
    { if: { required: ["a"] }, then: { required: ["b"] }, else: { required: ["c"] } },
    { a: 1 },
    ["b: expected a value, found nothing"],
  ],
  [
    "else",
    { if: { required: ["a"] }, then: { required: ["b"] }, else: { required: ["c"] } },
    {},
    ["c: expected a value, found nothing"],
  ],
  [
    "a pattern of names",
    { patternProperties: { "^n": { type: "number" } }, additionalProperties: false },
    { n1: "a", x: 1 },
    ['n1: expected a number, found "a"', "x: expected no parameters, found an unknown parameter"],
  ],
  [
    "other properties",
    { properties: { a: {} }, additionalProperties: { type: "number" } },
    { a: "b", c: 1, d: "e" },
    ['d: expected a number, found "e"'],
  ],
  [
    "names of properties",
    { propertyNames: { maxLength: 2 }, additionalProperties: { type: "number" } },
    { ab: 1, abc: "a", abcd: 2 },
    ['abc: expected a number, found "a"', 'abcd: expected a name that is at most 2 characters, found "abcd"'],
  ],
  [
    "a tuple",
    { prefixItems: [{ type: "string" }], items: { type: "number" } },
    [1, "a"],
    ["[0]: expected a string, found 1", '[1]: expected a number, found "a"'],
  ],
  [
    "a tuple of draft 7",
    { items: [{ type: "string" }], additionalItems: { type: "number" } },
    [1, "a"],
    ["[0]: expected a string, found 1", '[1]: expected a number, found "a"'],
  ],
  [
    "what depends",
    { dependentRequired: { a: ["b", "c"] } },
    { a: 1, c: 1 },
    ["b: expected a value, because there is a, found nothing"],
  ],
  [
    "what depends in draft 7",
    { dependencies: { a: ["b"], c: { minProperties: 5 } } },
    { a: 1, c: 1 },
    ["b: expected a value, because there is a, found nothing", "expected at least 5 properties, found 2 properties"],
  ],
  [
    "schemas that depend",
    { dependentSchemas: { a: { required: ["b"] }, x: false } },
    { a: 1 },
    ["b: expected a value, found nothing"],
  ],
  [
    "what is left over",
    {
      allOf: [{ $ref: "#/$defs/base" }],
      properties: { own: {} },
      unevaluatedProperties: false,
      $defs: { base: { properties: { size: {} } } },
    },
    { own: 1, siez: 2 },
    ['siez: expected only own, size, found an unknown parameter (did you mean "size"?)'],
  ],
  [
    "what is left over and does not fit",
    { unevaluatedProperties: { type: "number" }, properties: { a: {} }, $ref: "#/$defs/yes", $defs: { yes: true } },
    { a: "b" },
    [],
  ],
  [
    "items that are left over",
    { prefixItems: [{}], unevaluatedItems: false },
    [1, 2],
    ["expected nothing more than its schema lists, found a list of 2"],
  ],
  [
    "names that objects inherit",
    { required: ["toString", "constructor"] },
    {},
    ["toString: expected a value, found nothing", "constructor: expected a value, found nothing"],
  ],
  ["a format that no text has", { format: "uri" }, "not a uri", ['expected text in the format uri, found "not a uri"']],
])("findProblems() knows %s", ([, schema, value, expected]) => {
  const engine = createEngine(schema);
  const found = engine.fits(schema, value) ? [] : findProblems(schema, value, engine).map(describeProblem);

  expect(found).toEqual(expected);
});

test("findProblems() says something also where it cannot say what", () => {
  const schema = { type: "object", properties: { a: { contains: true, maxContains: 0 } } };

  expect(problems(schema, { a: [1] })).toEqual([
    "a: expected a list with at least 1 and at most 0 of anything, found a list of 1",
  ]);
  expect(findProblems({ type: "string" }, "fits", createEngine({ type: "string" })).map(describeProblem)).toEqual([
    'expected a string, found "fits"',
  ]);
});

test("findProblems() says one thing for each place", () => {
  expect(problems({ allOf: [{ minimum: 5 }, { minimum: 6 }], minimum: 7 }, 1)).toEqual([
    "expected at least 7, found 1",
  ]);
});

test("findProblems() says at most 50 things, however many there are", () => {
  const list = { type: "array", items: { type: "number" } };
  const map = { additionalProperties: { type: "number" } };
  const many = Array.from({ length: 100_000 }, () => "a");

  expect(problems(list, many)).toHaveLength(50);
  expect(problems(map, Object.fromEntries(many.slice(0, 1000).map((item, index) => [index, item])))).toHaveLength(50);
  expect(problems({ required: many.slice(0, 100).map((_, index) => `p${index}`) }, {})).toHaveLength(50);
});

test("findProblems() finds the one wrong item of a long list soon", () => {
  const schema = { type: "array", items: { type: "string", minLength: 1, maxLength: 5, pattern: "^a" } };
  const list = Array.from({ length: 200_000 }, () => "a");

  expect(problems(schema, [...list, "b"])).toEqual(['[200000]: expected text that matches /^a/, found "b"']);
});

test("R14: findProblems() ends for a choice that refers to itself and a value of 60 levels", () => {
  const node = (op: string): JsonSchema => ({
    type: "object",
    properties: { args: { type: "array", items: { $ref: "#" } }, op: { const: op } },
    required: ["args", "op"],
  });
  let deep: unknown = { op: "xor", args: [] };
  for (let level = 0; level < 60; level++) deep = { op: "not", args: [deep] };

  expect(problems({ anyOf: [node("and"), node("or"), node("not")] }, deep)[0]).toMatch(
    /op: expected one of "and", "or", "not", found "xor" \(did you mean "or"\?\)$/u,
  );
});

test("R14: findProblems() ends for a schema that says the same in two ways, at 60 levels", () => {
  const part = { properties: { next: { $ref: "#" }, end: { type: "number" } } };
  let deep: unknown = { end: "a" };
  for (let level = 0; level < 60; level++) deep = { next: deep };

  expect(problems({ allOf: [part, { ...part }] }, deep)).toHaveLength(1);
});

test("findProblems() shortens and escapes what it repeats", () => {
  const schema = { type: "object", properties: { a: { type: "number" } }, additionalProperties: false };

  expect(problems(schema, { a: "x".repeat(1000), "\u202eb\n": 1 })).toEqual([
    `a: expected a number, found "${"x".repeat(120)}…"`,
    String.raw`["\u202eb\n"]: expected only a, found an unknown parameter`,
  ]);
});

function problems(schema: JsonSchema, value: unknown): string[] {
  return findProblems(schema, value, createEngine(schema)).map(describeProblem);
}
