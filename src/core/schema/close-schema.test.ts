import { expect, test } from "vitest";

import { closeSchema } from "./close-schema.ts";
import type { JsonSchema } from "./json-schema.ts";

test("closeSchema() closes objects that list their properties, at every level", () => {
  const closed = closePaths({
    type: "object",
    properties: {
      child: object(),
      list: { items: object() },
      pair: { prefixItems: [object()], items: object() },
      draft7: { items: [object()] },
      record: { additionalProperties: object() },
    },
  });

  expect(closed).toEqual([
    "",
    "properties/child",
    "properties/list/items",
    "properties/pair/prefixItems/0",
    "properties/pair/items",
    "properties/draft7/items/0",
    "properties/record/additionalProperties",
  ]);
});

test("closeSchema() leaves alone what says itself whether it takes others", () => {
  const said = [true, false, {}].map((additionalProperties) => ({ ...object(), additionalProperties }));

  for (const schema of said) expect(closeSchema(structuredClone(schema))).toEqual(schema);
});

test.for(["allOf", "anyOf", "oneOf"])(
  "closeSchema() leaves alone an object beside %s, and the objects in it",
  (keyword) => {
    expect(closePaths({ ...object(), [keyword]: [object(), object()] })).toEqual([]);
  },
);

test.for(["if", "then", "not", "contains", "unevaluatedProperties"])(
  "closeSchema() leaves alone the object under %s",
  (keyword) => {
    expect(closePaths({ properties: { a: { [keyword]: object() } } })).toEqual([""]);
  },
);

test("closeSchema() leaves an object open that takes names by pattern", () => {
  expect(closePaths({ ...object(), patternProperties: { "^x-": object() } })).toEqual([]);
});

test("closeSchema() leaves an object alone that lists no properties", () => {
  expect(closePaths({ type: "object", properties: { map: { type: "object" } } })).toEqual([""]);
});

test.for(["anyOf", "oneOf"])(
  "closeSchema() closes an object in %s that may only be something simple instead",
  (keyword) => {
    const schema = { properties: { a: { [keyword]: [object(), { type: "null" }, { type: "string" }] } } };

    expect(closePaths(schema)).toEqual(["", `properties/a/${keyword}/0`]);
  },
);

test("closeSchema() leaves an object open in a choice of objects, or of what it cannot tell", () => {
  expect(closePaths({ properties: { a: { anyOf: [object(), object()] } } })).toEqual([""]);
  expect(closePaths({ properties: { a: { anyOf: [object(), true] } } })).toEqual([""]);
  expect(closePaths({ properties: { a: { anyOf: [object(), { $ref: "#/$defs/b" }] } }, $defs: { b: {} } })).toEqual([
    "",
  ]);
});

test("closeSchema() closes what a part of the value refers to, also an object that refers to itself", () => {
  const $defs = { node: { properties: { next: { $ref: "#/$defs/node" }, up: { $ref: "#" } } }, unused: object() };

  expect(closePaths({ properties: { first: { $ref: "#/$defs/node", description: "a" } }, $defs })).toEqual([
    "",
    "$defs/node",
  ]);
});

test("closeSchema() closes what an optional part refers to, as Python programs write it", () => {
  const schema = {
    properties: { filter: { anyOf: [{ $ref: "#/$defs/filter" }, { type: "null" }] } },
    $defs: { filter: object() },
  };

  expect(closePaths(schema)).toEqual(["", "$defs/filter"]);
});

test("closeSchema() leaves open what is put together with something else anywhere", () => {
  const schema = {
    properties: {
      plain: { $ref: "#/$defs/base" },
      more: { allOf: [{ $ref: "#/$defs/base" }, object()] },
      beside: { $ref: "#/$defs/other", properties: { b: {} } },
    },
    $defs: { base: { properties: { inner: object() } }, other: object() },
  };

  expect(closePaths(schema)).toEqual([""]);
});

test("closeSchema() closes a definition that only stands inside something open", () => {
  const schema = {
    properties: {
      open: { allOf: [{ $defs: { inner: object() } }] },
      part: { $ref: "#/properties/open/allOf/0/$defs/inner" },
    },
  };

  expect(closePaths(schema)).toEqual(["", "properties/open/allOf/0/$defs/inner"]);
});

test("closeSchema() ends for definitions that put each other together", () => {
  const $defs = { a: { allOf: [{ $ref: "#/$defs/b" }] }, b: { properties: { a: { $ref: "#/$defs/a" } } } };

  expect(closePaths({ properties: { a: { $ref: "#/$defs/a" } }, $defs })).toEqual([""]);
});

function object(): JsonSchema {
  return { type: "object", properties: { a: { type: "string" } } };
}

/** The paths of the objects that were closed. */
function closePaths(schema: JsonSchema): string[] {
  const paths: string[] = [];
  const before = structuredClone(schema);
  collect(before, closeSchema(schema), [], paths);
  return paths;
}

function collect(before: unknown, after: unknown, path: string[], paths: string[]): void {
  if (typeof after !== "object" || after === null) return;
  const isClosed = "additionalProperties" in after && after.additionalProperties === false;
  if (isClosed && !Object.hasOwn(before as object, "additionalProperties")) paths.push(path.join("/"));
  for (const [key, inner] of Object.entries(after)) {
    if (Object.hasOwn(before as object, key))
      collect((before as Record<string, unknown>)[key], inner, [...path, key], paths);
  }
}
