import { expect, test } from "vitest";

import {
  followReferences,
  innerSchemas,
  isSchemaObject,
  itemSchema,
  matchingPatterns,
  resolveReference,
  type JsonSchema,
} from "./json-schema.ts";

test("isSchemaObject() tells objects from everything else", () => {
  expect([{}, Object.create(null), [], null, true, "a", undefined].map(isSchemaObject)).toEqual([
    true,
    true,
    false,
    false,
    false,
    false,
    false,
  ]);
});

test("innerSchemas() finds the schemas directly inside, with their paths, in drafts 2020-12 and 7", () => {
  const schema = {
    properties: { a: { title: "1" }, items: { title: "2" } },
    items: { title: "3" },
    anyOf: [{ title: "4" }, true],
    $defs: { d: { title: "5" } },
    definitions: { d: { title: "6" } },
    additionalProperties: false,
    additionalItems: { title: "7" },
    dependencies: { x: ["a"], y: { title: "8" } },
    const: { properties: { no: {} } },
    default: { items: {} },
    unknown: { items: {} },
    prefixItems: "wrong",
    allOf: { also: "wrong" },
    patternProperties: ["wrong"],
    not: ["wrong"],
  };

  const found = [...innerSchemas(schema)].map(([path, inner]) => [path.join("/"), inner]);

  expect(found).toEqual([
    ["properties/a", { title: "1" }],
    ["properties/items", { title: "2" }],
    ["items", { title: "3" }],
    ["anyOf/0", { title: "4" }],
    ["anyOf/1", true],
    ["$defs/d", { title: "5" }],
    ["definitions/d", { title: "6" }],
    ["additionalProperties", false],
    ["additionalItems", { title: "7" }],
    ["dependencies/y", { title: "8" }],
  ]);
});

test("innerSchemas() takes the list under items for a tuple of draft 7", () => {
  expect([...innerSchemas({ items: [{}, true] })]).toEqual([
    [["items", 0], {}],
    [["items", 1], true],
  ]);
});

test("innerSchemas() takes no keyword from what objects inherit", () => {
  expect([...innerSchemas({ constructor: {}, toString: {} })]).toEqual([]);
});

test.for([
  ["#", "root"],
  ["#/$defs/a", "a"],
  ["#/$defs/a~1b", "slash"],
  ["#/$defs/a~0b", "tilde"],
  ["#/$defs/a%20b", "space"],
  ["#/$defs/a%2Fb", "slash"],
  ["#/$defs/50%", "percent"],
  ["#/anyOf/0", "first"],
  ["#here", "anchor"],
] as const)("resolveReference(%j) finds %s", ([reference, title]) => {
  expect(resolveReference(root, reference)).toMatchObject({ title });
});

test.for([
  "#/$defs/none",
  "#/$defs/a/title/x",
  "#/anyOf/1",
  "#/constructor",
  "#/__proto__",
  "#nowhere",
  "#/",
  "",
  "other.json",
  "https://example.com/schema",
])("resolveReference(%j) finds nothing", (reference) => {
  expect(resolveReference(root, reference)).toBeUndefined();
});

test("followReferences() goes on until something does not refer", () => {
  const schema: JsonSchema = {
    $defs: { a: { $ref: "#/$defs/b" }, b: { type: "string" }, c: { $ref: "#/$defs/none" } },
  };

  expect(followReferences(schema, { $ref: "#/$defs/a" })).toEqual({ type: "string" });
  expect(followReferences(schema, { type: "number" })).toEqual({ type: "number" });
  expect(followReferences(schema, { $ref: "#/$defs/c" })).toBeUndefined();
  expect(followReferences(schema, true)).toBe(true);
});

test("matchingPatterns() gives the schemas of all patterns that match a name", () => {
  const schema = { patternProperties: { "^a": { title: "1" }, b$: { title: "2" }, c: { title: "3" } } };

  expect(matchingPatterns(schema, "ab")).toEqual([{ title: "1" }, { title: "2" }]);
  expect(matchingPatterns(schema, "x")).toEqual([]);
  expect(matchingPatterns({}, "ab")).toEqual([]);
});

test.for([
  ["a list", { items: 1 }, [1, 1]],
  ["a tuple", { prefixItems: [1], items: 2 }, [1, 2]],
  ["a tuple of draft 7", { items: [1], additionalItems: 2 }, [1, 2]],
  ["a tuple and nothing more", { prefixItems: [1] }, [1, undefined]],
  ["nothing", { additionalItems: 2 }, [undefined, undefined]],
] as const)("itemSchema() gives the schemas for the first two items of %s", ([, schema, items]) => {
  expect([itemSchema(schema, 0), itemSchema(schema, 1)]).toEqual(items);
});

const root: JsonSchema = {
  title: "root",
  anyOf: [{ title: "first" }],
  properties: { deep: { items: { $anchor: "here", title: "anchor" } } },
  $defs: {
    a: { title: "a" },
    "a/b": { title: "slash" },
    "a~b": { title: "tilde" },
    "a b": { title: "space" },
    "50%": { title: "percent" },
    yes: true,
  },
};
