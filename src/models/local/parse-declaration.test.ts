import { expect, test } from "vitest";

import type { JsonSchema } from "../../core/schema/json-schema.ts";
import { renderSchema } from "../../core/schema/render-schema.ts";
import { parseDeclaration } from "./parse-declaration.ts";

const properties = {
  path: { type: "string", description: "Where it is, relative to the folder" },
  limit: { type: "number", default: 10, description: "How many, at most" },
  "max-size": { type: "number" },
  mode: { type: "string", enum: ["a", "b c", 'd"e'], default: "b c" },
  since: { type: "string", format: "date" },
  tags: { type: "array", items: { type: "string" }, default: [] },
  levels: { type: "array", items: { type: "number", enum: [1, 2] } },
  deep: { type: "object", properties: { on: { type: "boolean" } }, required: ["on"], description: "More; of it" },
  empty: { type: "object", properties: {}, required: [] },
} as const;

test("parseDeclaration() reads what renderSchema() writes", () => {
  const schema: JsonSchema = { type: "object", properties, required: ["path", "deep", "max-size"] };

  const read = parseDeclaration(renderSchema(schema));

  const since = { ...properties.since, description: "date" };
  expect(read).toEqual({ ...schema, properties: { ...properties, since }, required: ["path", "max-size", "deep"] });
});

test("parseDeclaration() reads one without semicolons and indentation, and what limits a value as part of its description", () => {
  const read = parseDeclaration("{\nname: string // Who it is\nyears?: number // whole, ≥ 1\n} => {\nok: boolean\n}");

  expect(read).toEqual({
    type: "object",
    properties: {
      name: { type: "string", description: "Who it is" },
      years: { type: "number", description: "whole, ≥ 1" },
    },
    required: ["name"],
  });
});

test("parseDeclaration() takes the first of several types that says something", () => {
  const read = parseDeclaration(
    "{ a: null | string; b: (number | string)[]; c: [number, number]; d: Record<string, string>; e: unknown }",
  );

  expect(read?.["properties"]).toEqual({
    a: { type: "string" },
    b: { type: "array", items: { type: "number" } },
    c: { type: "array", items: { type: "number" } },
    d: { type: "object" },
    e: {},
  });
});

test.for(["", "text", "{ a: ", "{ a }", "{ a: string", "{ a: ".repeat(5000), "{ a: (((( }"])(
  "parseDeclaration() answers nothing for %j",
  (text) => {
    expect(parseDeclaration(text)).toBeUndefined();
  },
);
