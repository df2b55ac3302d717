import { expect, test } from "vitest";

import type { JsonSchema } from "../../core/schema/json-schema.ts";
import { fitSchema } from "./fit-schema.ts";
import { anthropicSchemas, googleSchemas, strictSchemas } from "./schema-rules.ts";

const text = { type: "string" };

test("fitSchema() makes optional properties ones that may be null where all are required", () => {
  const schema = object(
    { a: text, b: { ...text, description: "B" }, c: { enum: ["x"] }, d: { $ref: "#/$defs/e" }, f: { anyOf: [text] } },
    { required: ["a"], $defs: { e: object({ g: text }) } },
  );

  expect(fitSchema(schema, strictSchemas)).toEqual({
    type: "object",
    properties: {
      a: text,
      b: { type: ["string", "null"], description: "B" },
      c: { anyOf: [{ type: "string", enum: ["x"] }, { type: "null" }] },
      d: { anyOf: [{ $ref: "#/$defs/e" }, { type: "null" }] },
      f: { anyOf: [text, { type: "null" }] },
    },
    required: ["a", "b", "c", "d", "f"],
    additionalProperties: false,
    $defs: { e: { type: "object", properties: { g: text }, required: ["g"], additionalProperties: false } },
  });
});

test("fitSchema() tells in descriptions what the provider does not enforce", () => {
  const schema = object({
    a: { type: "string", minLength: 3, pattern: "^(?=a)", description: "A name", default: "abc" },
    n: { type: "integer", minimum: 1, maximum: Number.MAX_SAFE_INTEGER },
    u: { type: "string", format: "uri" },
  });

  expect(fitSchema(schema, strictSchemas)?.["properties"]).toEqual({
    a: { type: "string", description: 'A name (minLength: 3, pattern: "^(?=a)", default: "abc")' },
    n: { type: "integer", minimum: 1 },
    u: { type: "string", description: "format: uri" },
  });
  expect(fitSchema(schema, anthropicSchemas)?.["properties"]).toMatchObject({
    n: { type: "integer", description: "minimum: 1" },
    u: { type: "string", format: "uri" },
  });
});

test("fitSchema() makes optional properties nullable where there are too many, unless there are too many choices then", () => {
  const names = (count: number): JsonSchema =>
    object(Object.fromEntries(Array.from({ length: count }, (_, index) => [`p${index}`, text])), { required: [] });

  expect(fitSchema(names(10), anthropicSchemas)?.["required"]).toEqual([]);
  expect(fitSchema(names(16), anthropicSchemas)?.["required"]).toHaveLength(16);
  expect(fitSchema(names(17), anthropicSchemas)).toBeUndefined();
});

test("fitSchema() gives each reference a definition of its own, whatever it points at", () => {
  const schema = object(
    { a: { $ref: "#/properties/b" }, b: text, c: { $ref: "#/definitions/x y" }, d: { $ref: "#/$defs/x_y" } },
    { definitions: { "x y": { type: "number" } }, $defs: { x_y: { type: "boolean" } } },
  );

  expect(fitSchema(schema, strictSchemas)).toMatchObject({
    properties: { a: { $ref: "#/$defs/b" }, c: { $ref: "#/$defs/x_y" }, d: { $ref: "#/$defs/x_y_2" } },
    $defs: { b: text, x_y: { type: "number" }, x_y_2: { type: "boolean" } },
  });
});

test("fitSchema() takes a schema that refers to itself below an optional property alone, where the provider says so", () => {
  const tree = (required: readonly string[]): JsonSchema => object({ value: text, left: { $ref: "#" } }, { required });

  expect(fitSchema(tree(["value"]), googleSchemas)).toBeDefined();
  expect(fitSchema(tree(["value", "left"]), googleSchemas)).toBeUndefined();
});

test.for<[what: string, schema: JsonSchema]>([
  ["anything at all", object({ a: {} })],
  ["a list of anything", object({ a: { type: "array" } })],
  ["open objects", object({ a: { type: "object" } })],
  ["properties of any name", object({ a: { type: "object", additionalProperties: text } })],
  ["patterns of names", object({ a: { type: "object", patternProperties: { "^a": text } } })],
  ["lists by place", object({ a: { type: "array", prefixItems: [text] } })],
  ["conditions", object({ a: text }, { if: { required: ["a"] } })],
  ["objects among choices", object({ a: { enum: [{ b: 1 }] } })],
  ["branches of an object with properties", object({ a: { ...object({ b: text }), anyOf: [{ required: ["b"] }] } })],
  ["parts of an object that overlap", object({ a: { allOf: [object({ b: text }), object({ b: text })] } })],
  ["a list at the top", { type: "array", items: text }],
  ["11 levels", Array.from({ length: 10 }).reduce<JsonSchema>((inner) => object({ a: inner }), object({ a: text }))],
])("fitSchema() has no strict form of %s", ([, schema]) => {
  expect(fitSchema(schema, strictSchemas)).toBeUndefined();
});

function object(properties: Readonly<Record<string, JsonSchema>>, more: JsonSchema = {}): JsonSchema {
  return { type: "object", properties, required: Object.keys(properties), additionalProperties: false, ...more };
}
