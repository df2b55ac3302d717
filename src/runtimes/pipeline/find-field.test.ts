import { expect, test } from "vitest";

import type { JsonSchema } from "../../core/schema/json-schema.ts";
import { findField } from "./find-field.ts";

const listed = { type: "object", properties: { temp: { type: "number" } } };

test.for<[JsonSchema, (string | number)[], unknown]>([
  [listed, ["temp"], { type: "number" }],
  [{ type: "array", items: listed }, [3, "temp"], { type: "number" }],
  [{ type: "array", prefixItems: [{ type: "string" }], items: listed }, [0], { type: "string" }],
  [{ type: "array", items: listed }, ["length"], { type: "integer" }],
  [{ type: ["object", "null"], properties: { a: true } }, ["a"], true],
  [{ type: "object", additionalProperties: { type: "string" } }, ["any"], { type: "string" }],
  [{ anyOf: [listed, { type: "null" }] }, ["temp"], { type: "number" }],
  [{ $ref: "#/$defs/w", $defs: { w: listed } }, ["temp"], { type: "number" }],
])("findField(%j, %j) leads to %j", ([schema, path, expected]) => {
  expect(findField({ root: schema, schema }, path)).toMatchObject({ found: "place", place: { schema: expected } });
});

test.for<[JsonSchema, (string | number)[]]>([
  [{}, ["a"]],
  [{ type: "object" }, ["a", "b"]],
  [{ type: "array" }, [0, "x"]],
  [{ type: "object", properties: {}, additionalProperties: true }, ["a"]],
  [{ type: "object", properties: {}, patternProperties: { "^a": {} } }, ["a"]],
  [{ anyOf: [listed, {}] }, ["a"]],
  [{ allOf: [listed] }, ["a"]],
  [{ anyOf: [{ properties: { a: { type: "string" } } }, { properties: { a: { type: "number" } } }] }, ["a"]],
  [{ anyOf: [{ $ref: "#" }, listed] }, ["a"]],
])("findField(%j, %j) may be anything", ([schema, path]) => {
  expect(findField({ root: schema, schema }, path)).toEqual({ found: "anything" });
});

test.for<[JsonSchema, (string | number)[], string, number]>([
  [listed, ["tmp"], "one of temp", 0],
  [listed, ["constructor"], "one of temp", 0],
  [listed, ["temp", "x"], "nothing inside number", 1],
  [listed, [0], "nothing inside object", 0],
  [{ type: "object", additionalProperties: false }, ["a"], "no field at all", 0],
  [{ type: "array", items: listed }, ["temp"], 'an index such as [0], or "length", because it is a list', 0],
  [{ anyOf: [listed, { type: "object", properties: { b: {} } }] }, ["c"], "one of temp, b", 0],
])("findField(%j, %j) is nothing: %s", ([schema, path, expected, depth]) => {
  expect(findField({ root: schema, schema }, path)).toMatchObject({ found: "nothing", expected, depth });
});
