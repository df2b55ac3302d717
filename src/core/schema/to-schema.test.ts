import { toStandardJsonSchema } from "@valibot/to-json-schema";
import { type } from "arktype";
import * as v from "valibot";
import { expect, test } from "vitest";
import { z } from "zod";

import { describeProblem } from "../errors.ts";
import { toSchema, type ConvertedSchema, type Refined, type SchemaSource } from "./to-schema.ts";

const closed = {
  type: "object",
  properties: { path: { type: "string" }, limit: { type: "number", default: 10 } },
  required: ["path"],
  additionalProperties: false,
};

test.for<[library: string, source: SchemaSource]>([
  ["zod", z.object({ path: z.string(), limit: z.number().default(10) })],
  ["valibot", toStandardJsonSchema(v.object({ path: v.string(), limit: v.optional(v.number(), 10) }))],
  [
    "JSON Schema",
    { properties: { path: { type: "string" }, limit: { type: "number", default: 10 } }, required: ["path"] },
  ],
])("toSchema() converts a schema of %s and closes it", ([, source]) => {
  expect(toSchema(source, "input")).toMatchObject({ ok: true, json: closed });
});

test("toSchema() converts a schema of arktype, whose defaults are its own business", () => {
  const schema = type({ path: "string", limit: "number = 10" });

  expect(toSchema(schema, "input")).toMatchObject({
    ok: true,
    json: { ...closed, properties: { path: { type: "string" }, limit: { type: "number" } } },
  });
  expect(refine(schema, { path: "a" })).toEqual({ ok: true, value: { path: "a", limit: 10 } });
});

test("toSchema() converts the output side, and leaves it open", () => {
  const schema = z.looseObject({
    n: z
      .string()
      .transform((text) => text.length)
      .pipe(z.number()),
  });

  expect(toSchema(schema, "output")).toEqual({
    ok: true,
    json: { type: "object", properties: { n: { type: "number" } }, required: ["n"], additionalProperties: {} },
  });
  expect(toSchema({ type: "object", properties: { n: {} } }, "output")).toEqual({
    ok: true,
    json: { type: "object", properties: { n: {} } },
  });
});

test("toSchema() copies what it is given, with its $schema and without its $id", () => {
  const source = {
    $schema: "https://json-schema.org/draft-07/schema#",
    $id: "a",
    type: "object",
    properties: { a: {} },
  };

  const converted = toSchema(source, "input");
  source.properties.a = { type: "number" };

  expect(converted).toEqual({
    ok: true,
    json: {
      $schema: "https://json-schema.org/draft-07/schema#",
      type: "object",
      properties: { a: {} },
      additionalProperties: false,
    },
  });
});

test.for<[what: string, source: SchemaSource]>([
  ["lists properties", { properties: {} }],
  ["says nothing", { description: "a" }],
  ["is a choice of objects", z.discriminatedUnion("a", [z.object({ a: z.literal(1) }), z.object({ a: z.literal(2) })])],
  ["puts objects together", z.intersection(z.object({ a: z.string() }), z.object({ b: z.string() }))],
  ["refers to an object", { $ref: "#/$defs/a", $defs: { a: { type: "object" } } }],
  [
    "is a choice of references",
    { anyOf: [{ $ref: "#/$defs/a" }, { properties: {} }], $defs: { a: { type: "object" } } },
  ],
])("toSchema() takes an input that %s for an object", ([, source]) => {
  expect(toSchema(source, "input")).toMatchObject({ ok: true, json: { type: "object" } });
});

test.for<[what: string, source: SchemaSource]>([
  ["a text", z.string()],
  ["a choice with a text", z.union([z.object({}), z.string()])],
  ["a choice with anything", { anyOf: [{ type: "object" }, {}] }],
  ["a choice with true", { anyOf: [{ type: "object" }, true] }],
  ["a reference to a text", { $ref: "#/$defs/a", $defs: { a: { type: "string" } } }],
  ["parts that say nothing", { allOf: [{ minProperties: 1 }] }],
])("toSchema() does not make an object of %s", ([, source]) => {
  const converted = toSchema(source, "input");

  expect(converted.ok && converted.json["type"]).not.toBe("object");
});

test("toSchema() knows a schema of zod that refers to itself", () => {
  const node = z.object({
    name: z.string(),
    get children() {
      return z.array(node);
    },
  });

  expect(toSchema(node, "input")).toMatchObject({
    ok: true,
    json: { type: "object", properties: { children: { items: { $ref: "#" } } }, additionalProperties: false },
  });
});

test("toSchema() asks a library for the JSON Schema once", () => {
  const sides: string[] = [];
  const source = {
    "~standard": {
      version: 1,
      vendor: "test",
      validate: (value: unknown) => ({ value }),
      jsonSchema: {
        input: (options: { target: string }) => (sides.push(`input ${options.target}`), { type: "object" }),
        output: (options: { target: string }) => (sides.push(`output ${options.target}`), { type: "object" }),
      },
    },
  };

  toSchema(source, "input");
  toSchema(source, "output");

  expect(sides).toEqual(["input draft-2020-12", "output draft-2020-12"]);
});

test.for<[what: string, source: unknown, message: string]>([
  ["a text", "object", 'expected a JSON Schema or a Standard Schema, found "object"'],
  ["nothing", undefined, "expected a JSON value, found nothing"],
  ["null", null, "expected a JSON Schema or a Standard Schema, found null"],
  ["a list", [], "expected a JSON Schema or a Standard Schema, found an empty list"],
  ["a function", () => ({}), "expected a JSON value, found a function"],
  ["a class instance", new Date(0), "expected a plain object, found a Date (give its toISOString())"],
  [
    "a function inside",
    { type: "object", properties: { a: () => 1 } },
    "properties.a: expected a JSON value, found a function",
  ],
  [
    "a mistake",
    { type: "objekt" },
    'type: expected one of string, number, integer, boolean, object, array, null, or a list of them, found "objekt"',
  ],
  ["too much", { description: "a".repeat(300_000) }, "expected at most 262144 bytes, found more"],
  [
    "plain valibot",
    v.object({ a: v.string() }),
    'expected a schema that can be converted to JSON Schema; wrap it with toStandardJsonSchema() of @valibot/to-json-schema, found a valibot schema without "~standard.jsonSchema"',
  ],
  [
    "another library without JSON Schema",
    standard({ jsonSchema: undefined }),
    'expected a schema that can be converted to JSON Schema, found a test schema without "~standard.jsonSchema"',
  ],
  [
    "what JSON Schema cannot say",
    z.object({ when: z.date() }),
    "expected a schema that JSON Schema can express, found Date cannot be represented in JSON Schema",
  ],
  [
    "a library that gives no schema",
    standard({ jsonSchema: { input: () => "a" } }),
    "expected a JSON Schema or a Standard Schema, found an object",
  ],
  [
    "a library that has no function",
    standard({ jsonSchema: {} }),
    "expected a schema that JSON Schema can express, found standard.jsonSchema[side] is not a function",
  ],
])("toSchema() refuses %s", ([, source, message]) => {
  expect(problemsOf(toSchema(source as SchemaSource, "input"))).toEqual([message]);
});

test("toSchema() refuses what throws when it is looked at", () => {
  const source = {
    get "~standard"(): never {
      throw new Error("not now");
    },
  };

  expect(problemsOf(toSchema(source, "input"))).toEqual([
    "expected a schema that can be read, found one that throws: not now",
  ]);
});

test("R13: toSchema() refuses a schema of 10,000 levels and one that contains itself", () => {
  let deep: Record<string, unknown> = {};
  for (let level = 0; level < 10_000; level++) deep = { items: deep };
  const cycle: Record<string, unknown> = { type: "object" };
  cycle["items"] = cycle;

  expect(problemsOf(toSchema(deep, "input"))[0]).toContain("expected at most 64 levels, found more");
  expect(problemsOf(toSchema(cycle, "input"))[0]).toContain("found an object that contains itself");
});

test("toSchema() says that a required parameter is not listed, because the input is closed", () => {
  expect(problemsOf(toSchema({ properties: { path: {} }, required: ["pth"] }, "input"))).toEqual([
    'required: expected names listed under properties, found "pth"',
  ]);
  expect(toSchema({ properties: { path: {} }, required: ["pth"] }, "output").ok).toBe(true);
});

test("refine checks and changes what JSON Schema cannot say", () => {
  const schema = z.object({
    name: z.string().refine((name) => name !== "root", "Nobody is root"),
    n: z.coerce.number(),
  });

  expect(refine(schema, { name: "ada", n: "5" })).toEqual({ ok: true, value: { name: "ada", n: 5 } });
  expect(refine(schema, { name: "root", n: 1 })).toEqual({
    ok: false,
    problems: [{ path: "name", expected: "a value its schema accepts (Nobody is root)", found: '"root"' }],
  });
});

test("refine waits for a schema that answers later", async () => {
  const schema = z.object({ name: z.string().refine(async (name) => name !== "root", "Nobody is root") });

  expect(await refine(schema, { name: "ada" })).toEqual({ ok: true, value: { name: "ada" } });
  expect(await refine(schema, { name: "root" })).toMatchObject({ ok: false, problems: [{ path: "name" }] });
});

test("refine says where each issue is, in whatever way the library writes the path", () => {
  const issues = [
    { message: "one" },
    { message: "two", path: ["list", 0, "a b"] },
    { message: "three", path: [{ key: "list" }, { key: 1 }] },
    { message: "four", path: [Symbol("s")] },
    { message: "five", path: ["none", "deeper"] },
  ];
  const schema = standard({ validate: () => ({ issues }), jsonSchema: { input: () => ({ type: "object" }) } });

  const refined = refine(schema, { list: [{ "a b": 5 }, "x"] }) as Refined;

  expect(refined.ok ? [] : refined.problems.map(describeProblem)).toMatchInlineSnapshot(`
    [
      "expected a value its schema accepts (one), found an object",
      "list[0]["a b"]: expected a value its schema accepts (two), found 5",
      "list[1]: expected a value its schema accepts (three), found "x"",
      "["Symbol(s)"]: expected a value its schema accepts (four), found nothing",
      "none.deeper: expected a value its schema accepts (five), found nothing",
    ]
  `);
});

test("toSchema() gives no refine for a JSON Schema, nor for an output", () => {
  expect(toSchema({ type: "object" }, "input")).not.toHaveProperty("refine");
  expect(toSchema(z.object({}), "output")).not.toHaveProperty("refine");
});

function standard(parts: object): SchemaSource {
  const validate = (value: unknown): object => ({ value });
  return { "~standard": { version: 1, vendor: "test", validate, ...parts } };
}

function refine(source: SchemaSource, value: { [name: string]: unknown }): unknown {
  const converted = toSchema(source, "input");
  if (!converted.ok || converted.refine === undefined) throw new Error(problemsOf(converted).join("; "));
  return converted.refine(value as never);
}

function problemsOf(converted: ConvertedSchema): string[] {
  return converted.ok ? [] : converted.problems.map(describeProblem);
}
