import { expect, test } from "vitest";

import type { JsonSchema } from "./json-schema.ts";
import { linkSchema } from "./engine.ts";

test("linkSchema() leaves a schema without references as it is, but for what checks nothing", () => {
  const schema = {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    type: "object",
    properties: { a: { type: "string", default: "b", examples: ["c"] }, list: { items: [{ minimum: 1 }, true] } },
    anyOf: [{ required: ["a"] }],
    const: { $ref: "#/a" },
    $defs: { unused: {} },
  };

  expect(link(schema)).toEqual({
    type: "object",
    properties: { a: { type: "string" }, list: { items: [{ minimum: 1 }, true] } },
    anyOf: [{ required: ["a"] }],
    const: { $ref: "#/a" },
  });
});

test("linkSchema() makes a reference a question", () => {
  const target = { type: "string" };
  const asked: unknown[] = [];

  const linked = linkSchema({ $defs: { a: target } }, { $ref: "#/$defs/a", minLength: 1 }, (...question) => {
    asked.push(question);
    return true;
  });

  const [question] = linked["~refine"] as [{ check(value: unknown): boolean; error(): string }];
  expect([question.check("b"), question.error()]).toEqual([true, ""]);
  expect(asked).toEqual([[target, "b"]]);
  expect(linked).toMatchObject({ minLength: 1 });
});

test("linkSchema() puts a reference in its place where properties are counted", () => {
  const schema = {
    $ref: "#/$defs/a",
    allOf: [{ title: "b" }],
    unevaluatedProperties: false,
    $defs: { a: { properties: { c: true } } },
  };

  expect(link(schema)).toEqual({
    allOf: [{ title: "b" }, { properties: { c: true } }],
    unevaluatedProperties: false,
  });
});

test("linkSchema() asks for names that objects inherit in ways that cannot be mistaken", () => {
  const schema = {
    properties: { a: true, toString: { type: "string" } },
    patternProperties: { "^x": true },
    required: ["a", "valueOf"],
  };

  const linked = link(schema);

  expect(linked).toMatchObject({
    properties: { a: true },
    patternProperties: { "^x": true, "^toString$": { type: "string" } },
    required: ["a"],
  });
  expect(linked["~refine"]).toHaveLength(1);
});

test("linkSchema() takes a pattern in its simple form", () => {
  expect(link({ pattern: ".*a$" })).toEqual({ pattern: "a$" });
});

test("linkSchema() leaves what is no schema where one belongs", () => {
  const schema = { pattern: 1, properties: "wrong", required: "wrong", items: "wrong", $ref: 1 };

  expect(link(schema)).toEqual({ pattern: 1, properties: "wrong", required: "wrong", items: "wrong" });
});

function link(schema: JsonSchema): JsonSchema {
  return linkSchema(schema, schema, () => true);
}
