import { expect, test } from "vitest";

import { compactSchema } from "./compact-schema.ts";

test("compactSchema() leaves out what says nothing to a model, at every depth", () => {
  const schema = {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    title: "Input",
    type: "object",
    additionalProperties: false,
    properties: {
      title: { type: "string", title: "Title", description: "Of the page" },
      tags: { type: "array", items: { type: "string", title: "Tag", deprecated: false } },
      size: { anyOf: [{ type: "number", $comment: "in px" }, { type: "null" }] },
      extra: { type: "object", additionalProperties: { type: "number", title: "N" } },
    },
    required: ["title"],
  };

  expect(compactSchema(schema)).toEqual({
    type: "object",
    properties: {
      title: { type: "string", description: "Of the page" },
      tags: { type: "array", items: { type: "string" } },
      size: { anyOf: [{ type: "number" }, { type: "null" }] },
      extra: { type: "object", additionalProperties: { type: "number" } },
    },
    required: ["title"],
  });
});

test("compactSchema() keeps what a model reads nowhere else: examples, what is not to be used any more, titles that say more", () => {
  const properties = {
    query: { type: "string", description: "What to find", examples: ["status:open author:ada"] },
    born: { type: "string", title: "Day of birth, as 1815-12-10" },
    limit: { type: "number", deprecated: true },
  };
  const pageSize = { type: "number", title: "Page Size" };

  const compact = compactSchema({ type: "object", properties: { ...properties, page_size: pageSize } });

  expect(compact).toEqual({ type: "object", properties: { ...properties, page_size: { type: "number" } } });
});

test("compactSchema() changes no value that a schema only holds", () => {
  const schema = {
    type: "object",
    properties: { a: { const: { title: "x" }, default: { examples: [1] }, enum: [{ title: "y" }] } },
  };

  expect(compactSchema(schema)).toEqual(schema);
});

test("compactSchema() is made once", () => {
  const schema = { type: "object" };

  expect(compactSchema(schema)).toBe(compactSchema(schema));
});
