import { expect, test } from "vitest";

import { nestSchema } from "./composed-schemas.ts";

test("nestSchema() leads references to the new place", () => {
  const nested = nestSchema(
    {
      type: "object",
      properties: { self: { $ref: "#" }, list: { type: "array", items: { $ref: "#/$defs/item" } } },
      $defs: { item: { anyOf: [{ $ref: "#/$defs/item" }, { type: "string" }] } },
    },
    "#/properties/a",
  );

  expect(nested).toEqual({
    type: "object",
    properties: {
      self: { $ref: "#/properties/a" },
      list: { type: "array", items: { $ref: "#/properties/a/$defs/item" } },
    },
    $defs: { item: { anyOf: [{ $ref: "#/properties/a/$defs/item" }, { type: "string" }] } },
  });
});

test("nestSchema() leaves values and property names alone", () => {
  const schema = {
    properties: { $ref: { type: "string" }, items: { type: "number" } },
    const: { $ref: "#/x" },
    default: { $ref: "#/x" },
    enum: [{ $ref: "#/x" }],
  };

  expect(nestSchema(schema, "#/a")).toEqual(schema);
});

test.for([
  { $id: "https://example.com/a" },
  { properties: { a: { $anchor: "here" } } },
  { items: { $ref: "#here" } },
  { allOf: [{ $dynamicRef: "#node" }] },
])("nestSchema() takes anything in the place of %j, which has names of its own", (schema) => {
  expect(nestSchema(schema, "#/a")).toEqual({});
});

test("nestSchema() takes anything in the place of no schema", () => {
  expect(nestSchema(undefined, "#/a")).toEqual({});
});
