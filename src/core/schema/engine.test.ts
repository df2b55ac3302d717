import fc from "fast-check";
import { expect, test } from "vitest";

import { createEngine, createSlowEngine, fitsOnce } from "./engine.ts";
import type { JsonSchema } from "./json-schema.ts";

const engines = [
  ["createEngine()", createEngine],
  ["createSlowEngine()", createSlowEngine],
] as const;

test.for(engines)("%s holds values against a schema and the schemas inside it", ([, create]) => {
  const name = { type: "string", minLength: 1 };
  const root = { type: "object", properties: { name }, required: ["name"] };
  const engine = create(root);

  expect([{ name: "a" }, { name: "" }, {}, null].map((value) => engine.fits(root, value))).toEqual([
    true,
    false,
    false,
    false,
  ]);
  expect(["a", ""].map((value) => engine.fits(name, value))).toEqual([true, false]);
});

test.for(engines)("%s takes everything for true and for no schema, and nothing for false", ([, create]) => {
  const { fits } = create({});

  expect([fits(true, 1), fits(undefined, 1), fits(false, 1)]).toEqual([true, true, false]);
});

test.for(engines)(
  "%s follows references, also of draft 7, to the root, to anchors and to true and false",
  ([, create]) => {
    const root: JsonSchema = {
      properties: {
        draft7: { $ref: "#/definitions/text" },
        anchor: { $ref: "#number" },
        self: { $ref: "#" },
        all: { $ref: "#/$defs/all" },
        none: { $ref: "#/$defs/none" },
        nowhere: { $ref: "#/$defs/nowhere" },
      },
      definitions: { text: { type: "string" } },
      $defs: { number: { $anchor: "number", type: "number" }, all: true, none: false },
    };
    const engine = create(root);
    const fits = (value: unknown): boolean => engine.fits(root, value);

    expect([{ draft7: "a" }, { anchor: 1 }, { self: { self: { draft7: "a" } } }, { all: 1 }].map(fits)).toEqual(
      Array(4).fill(true),
    );
    expect(
      [{ draft7: 1 }, { anchor: "a" }, { self: { self: { draft7: 1 } } }, { none: 1 }, { nowhere: 1 }].map(fits),
    ).toEqual(Array(5).fill(false));
  },
);

test.for(engines)("%s holds a value against what stands beside a reference, too", ([, create]) => {
  const root: JsonSchema = { $ref: "#/$defs/text", minLength: 2, $defs: { text: { type: "string", maxLength: 3 } } };
  const engine = create(root);

  expect(["a", "ab", "abcd"].map((value) => engine.fits(root, value))).toEqual([false, true, false]);
});

test.for(engines)("%s knows which properties a reference has looked at", ([, create]) => {
  const root: JsonSchema = {
    allOf: [{ $ref: "#/$defs/base" }, { $ref: "#/$defs/yes" }],
    $ref: "#/$defs/more",
    properties: { own: true, child: { $ref: "#" } },
    unevaluatedProperties: false,
    $defs: { base: { properties: { a: true } }, more: { properties: { b: true } }, yes: true },
  };
  const engine = create(root);
  const fits = (value: unknown): boolean => engine.fits(root, value);

  expect([{ a: 1, b: 1, own: 1 }, { child: { a: 1 } }].map(fits)).toEqual([true, true]);
  expect([{ a: 1, c: 1 }, { child: { c: 1 } }].map(fits)).toEqual([false, false]);
});

test.for(engines)("%s takes names that objects inherit for names like others", ([, create]) => {
  const root: JsonSchema = {
    type: "object",
    properties: { toString: { type: "string" }, constructor: { type: "number" }, a: true },
    required: ["toString"],
    additionalProperties: false,
  };
  const engine = create(root);
  const fits = (value: unknown): boolean => engine.fits(root, value);

  expect([{ toString: "a" }, { toString: "a", constructor: 1, a: 1 }].map(fits)).toEqual([true, true]);
  expect([{}, { toString: 1 }, { toString: "a", constructor: "a" }, { toString: "a", valueOf: 1 }].map(fits)).toEqual(
    Array(4).fill(false),
  );
  expect([engine.fits({ required: ["valueOf"] }, "a text"), engine.fits({ required: ["valueOf"] }, {})]).toEqual([
    true,
    false,
  ]);
});

test.for(engines)("R14: %s asks once what many references ask about the same value", ([, create]) => {
  const $defs: Record<string, JsonSchema> = { d30: { type: "string" } };
  for (let level = 0; level < 30; level++) {
    const next = { $ref: `#/$defs/d${level + 1}` };
    $defs[`d${level}`] = { anyOf: [next, { allOf: [next] }] };
  }
  const root: JsonSchema = { $ref: "#/$defs/d0", $defs };

  expect(create(root).fits(root, 1)).toBe(false);
});

test.for(engines)("R14: %s ends for a choice that refers to itself and a value of 60 levels", ([, create]) => {
  const node = (op: string): JsonSchema => ({
    type: "object",
    properties: { args: { type: "array", items: { $ref: "#" } }, op: { const: op } },
    required: ["args", "op"],
  });
  const root: JsonSchema = { anyOf: [node("and"), node("or"), node("not")] };
  let deep: unknown = { op: "xor", args: [] };
  for (let level = 0; level < 60; level++) deep = { op: "not", args: [deep] };

  expect(create(root).fits(root, deep)).toBe(false);
});

test.for(engines)("%s does not remember a value that has changed since", ([, create]) => {
  const root: JsonSchema = { properties: { a: { $ref: "#/$defs/list" } }, $defs: { list: { maxItems: 1 } } };
  const engine = create(root);
  const value = { a: [1] };

  const before = engine.fits(root, value);
  value.a.push(2);

  expect([before, engine.fits(root, value)]).toEqual([true, false]);
});

test.for(engines)(
  "%s takes a text of many megabytes that a pattern cannot hold for one that does not fit",
  ([, create]) => {
    const root = { pattern: "^(?:a|b)*$" };
    const engine = create(root);

    expect(engine.fits(root, "a".repeat(1_000_000))).toBe(true);
    expect(engine.fits(root, "a".repeat(16_000_000))).toBe(false);
  },
);

test.for(engines)("%s holds a value against thousands of properties", ([, create]) => {
  const properties = Object.fromEntries(Array.from({ length: 4000 }, (_, index) => [`p${index}`, { type: "string" }]));
  const root = { type: "object", properties, additionalProperties: false };
  const engine = create(root);

  expect([{ p3999: "a" }, { p3999: 1 }, { q: "a" }].map((value) => engine.fits(root, value))).toEqual([
    true,
    false,
    false,
  ]);
});

test.for(engines)("%s ends for a schema that comes back to itself, which nobody has checked", ([, create]) => {
  const root: JsonSchema = { allOf: [{ $ref: "#" }] };

  expect(create(root).fits(root, 1)).toBe(false);
});

test.for(engines)("%s throws what is not about the size of a value", ([, create]) => {
  const value = {
    get a(): never {
      throw new Error("not now");
    },
  };
  const root = { properties: { a: { type: "string" } } };

  expect(() => create(root).fits(root, value)).toThrow("not now");
});

test.for([
  ["endsWith as zod writes it", { pattern: ".*xyz$" }, "axyz", "xyza"],
  ["a fraction", { multipleOf: 0.01 }, 19.99, 19.995],
  ["characters, not their halves", { maxLength: 1 }, "😀", "ab"],
  ["deep values", { const: { a: [1, { b: null }] } }, { a: [1, { b: null }] }, { a: [1, {}] }],
  ["a tuple of draft 7", { items: [{ type: "string" }], additionalItems: false }, ["a"], ["a", 1]],
  ["dependencies of draft 7", { dependencies: { a: ["b"], c: { required: ["d"] } } }, { a: 1, b: 1 }, { c: 1 }],
  [
    "items that are different",
    { uniqueItems: true },
    [1, "1", [1]],
    [
      { a: 1, b: 2 },
      { b: 2, a: 1 },
    ],
  ],
  ["a condition", { if: { minimum: 5 }, then: { multipleOf: 5 }, else: { maximum: 2 } }, 10, 4],
  ["one of several", { oneOf: [{ minimum: 5 }, { multipleOf: 2 }] }, 2, 6],
  ["names of properties", { propertyNames: { pattern: "^[a-z]+$" } }, { ab: 1 }, { A: 1 }],
  ["a format", { format: "date" }, "2024-02-29", "2023-02-29"],
] as const)("both engines know %s", ([, schema, right, wrong]) => {
  for (const [, create] of engines) {
    expect([create(schema).fits(schema, right), create(schema).fits(schema, wrong)]).toEqual([true, false]);
  }
});

test("both engines agree about everything", () => {
  const root: JsonSchema = {
    type: ["object", "array", "string"],
    properties: { a: { $ref: "#" }, n: { type: "integer", minimum: 0 }, toString: { type: "string" } },
    additionalProperties: { anyOf: [{ type: "string", pattern: "^[a-z]*$" }, { $ref: "#/$defs/list" }] },
    items: { oneOf: [{ type: "number" }, { type: "integer" }, { $ref: "#" }] },
    $defs: { list: { type: "array", items: { $ref: "#" }, maxItems: 3 } },
  };
  const fast = createEngine(root);
  const slow = createSlowEngine(root);
  const key = fc.constantFrom("a", "n", "toString", "b", "c");

  fc.assert(
    fc.property(fc.object({ key, values: [fc.integer(), fc.string(), fc.double()], maxDepth: 4 }), (value) => {
      expect(fast.fits(root, value)).toBe(slow.fits(root, value));
    }),
    { numRuns: 1000 },
  );
});

test("fitsOnce() tells whether a value fits", () => {
  expect([fitsOnce({ type: "string" }, "a"), fitsOnce({ type: "string" }, 1)]).toEqual([true, false]);
});
