import { expect, test } from "vitest";

import type { JsonSchema } from "./json-schema.ts";
import { renderSchema } from "./render-schema.ts";

test("renderSchema() writes an object as a TypeScript programmer would", () => {
  const text = renderSchema({
    type: "object",
    properties: {
      path: { type: "string", description: "where to\nlook" },
      limit: { type: "integer", default: 10, minimum: 1, maximum: 50 },
      "odd key": { type: ["string", "null"], pattern: "^a" },
      mode: { enum: ["fast", "slow"] },
      tags: { type: "array", items: { anyOf: [{ type: "string" }, { type: "number" }] } },
      filter: {
        type: "object",
        properties: { size: { type: "number" }, day: { type: "string", format: "date" } },
        required: ["size"],
      },
    },
    required: ["path"],
  });

  expect(text).toMatchInlineSnapshot(`
    "{
      path: string; // where to look
      limit?: number = 10; // whole, ≥ 1, ≤ 50
      "odd key"?: string | null; // /^a/
      mode?: "fast" | "slow";
      tags?: (string | number)[];
      filter?: {
        size: number;
        day?: string; // date
      };
    }"
  `);
});

test("renderSchema() shows every kind of schema in a word or two", () => {
  const cases: readonly [JsonSchema, string][] = [
    [{}, "unknown"],
    [{ const: 3 }, "3"],
    [{ type: "array" }, "unknown[]"],
    [{ type: "array", prefixItems: [{ type: "string" }, { type: "boolean" }] }, "[string, boolean]"],
    [{ type: "array", items: { type: "object" } }, "{}[]"],
    [{ type: "object", additionalProperties: { type: "number" } }, "Record<string, number>"],
    [{ oneOf: [{ type: "string" }, { type: "string" }, { type: "null" }] }, "string | null"],
    [{ allOf: [{ type: "string" }, { type: "number" }] }, "string & number"],
    [{ not: {} }, "unknown"],
  ];

  expect(cases.map(([schema]) => renderSchema(schema))).toEqual(cases.map(([, text]) => text));
  expect(renderSchema({ properties: { none: false } })).toBe("{\n  none?: never;\n}");
});

test("renderSchema() ends for a schema that refers to itself", () => {
  const tree = {
    $ref: "#/$defs/node",
    $defs: { node: { type: "object", properties: { value: { type: "string" }, next: { $ref: "#/$defs/node" } } } },
  };

  expect(renderSchema(tree)).toBe("{\n  value?: string;\n  next?: object;\n}");
  expect(renderSchema({ $ref: "#/nothing" })).toBe("unknown");
});

test("renderSchema() stops at a depth where nobody reads on", () => {
  let schema: Record<string, unknown> = { type: "string" };
  for (let depth = 0; depth < 40; depth++) schema = { type: "object", properties: { inner: schema } };

  expect(renderSchema(schema)).toContain("inner?: object;");
});

test("renderSchema() in the style typescript tells in comments what a type cannot, and goes as deep as it stands", () => {
  const schema = {
    type: "object",
    properties: {
      path: { type: "string", description: "Where\nto */ look" },
      limit: { type: "integer", minimum: 1, default: 10 },
      filter: { type: "object", properties: { size: { type: "number" } } },
      rest: true,
    },
    required: ["path"],
  };

  expect(renderSchema(schema, "typescript", 1)).toBe(
    [
      "{",
      "    /** Where to *\\/ look */",
      "    path: string;",
      "    /** whole, ≥ 1, @default 10 */",
      "    limit?: number;",
      "    filter?: {",
      "      size?: number;",
      "    };",
      "    rest?: unknown;",
      "  }",
    ].join("\n"),
  );
});
