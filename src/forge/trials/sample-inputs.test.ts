import { expect, test } from "vitest";

import { createEngine } from "../../core/schema/engine.ts";
import type { JsonSchema } from "../../core/schema/json-schema.ts";
import { sampleInputs } from "./try-tool.ts";

const schemas: readonly JsonSchema[] = [
  object({ text: { type: "string" }, count: { type: "integer", minimum: 1, maximum: 3 } }, ["text"]),
  object({ price: { type: "number", exclusiveMinimum: 0, multipleOf: 0.5 } }, ["price"]),
  object({ day: { type: "string", format: "date" }, mail: { type: "string", format: "email" } }, ["day", "mail"]),
  object({ code: { type: "string", pattern: "^[A-Z]{3}-[0-9]{2}$" } }, ["code"]),
  object({ kind: { enum: ["one", 2, null] }, fixed: { const: { a: 1 } } }, ["kind", "fixed"]),
  object({ tags: { type: "array", items: { type: "string", maxLength: 4 }, minItems: 2, uniqueItems: true } }, [
    "tags",
  ]),
  object({ pair: { type: "array", prefixItems: [{ type: "boolean" }, { type: ["null", "integer"] }] } }, ["pair"]),
  object({ either: { anyOf: [{ type: "string" }, object({ a: { type: "number" } }, ["a"])] } }, ["either"]),
  object({ both: { allOf: [open({ a: { type: "integer" } }, ["a"]), open({ b: { type: "integer" } }, ["b"])] } }, [
    "both",
  ]),
  {
    ...object({ root: { $ref: "#/$defs/node" } }, ["root"]),
    $defs: { node: object({ value: { type: "string" }, next: { $ref: "#/$defs/node" } }, ["value"]) },
  },
];

test.for(schemas.map((schema, index) => [index, schema] as const))(
  "sampleInputs() makes inputs that fit schema %i, and others that do not",
  async ([, schema]) => {
    const engine = createEngine(schema);

    const { fitting, unfitting } = await sampleInputs(schema, { count: 10, seed: 1 });

    expect(fitting.length).toBeGreaterThan(0);
    expect(fitting.every((input) => engine.fits(schema, input))).toBe(true);
    expect(unfitting.length).toBeGreaterThan(0);
    expect(unfitting.some((input) => engine.fits(schema, input))).toBe(false);
  },
);

test("sampleInputs() makes the same inputs from the same seed, and others from another", async () => {
  const schema = schemas[0] as JsonSchema;

  const [first, again, other] = await Promise.all([1, 1, 2].map((seed) => sampleInputs(schema, { count: 20, seed })));

  expect(again).toEqual(first);
  expect(other).not.toEqual(first);
});

test("sampleInputs() makes no input that fits a schema which nothing fits, and does not wait for one", async () => {
  const schema = object({ never: { type: "string", not: {} } }, ["never"]);

  expect((await sampleInputs(schema, { count: 10, seed: 1 })).fitting).toEqual([]);
});

function object(properties: object, required: readonly string[]): JsonSchema {
  return { type: "object", properties, required, additionalProperties: false };
}

function open(properties: object, required: readonly string[]): JsonSchema {
  return { type: "object", properties, required };
}
