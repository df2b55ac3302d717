import { toStandardJsonSchema } from "@valibot/to-json-schema";
import { type } from "arktype";
import * as v from "valibot";
import { expect, expectTypeOf, test } from "vitest";
import { z } from "zod";

import { createTool, defineTool } from "./define-tool.ts";
import { isKitbagError, type Failure } from "./errors.ts";
import type { JsonValue } from "./json.ts";
import type { ToolOutcome } from "./outcome.ts";
import { progress, injected, type Tool, type TypedTool } from "./tool.ts";

test("defineTool() makes a tool out of what an author writes down", () => {
  const tool = defineTool({
    name: "read-file",
    title: "Read a file",
    description: "Reads a text file",
    version: "1.2.0",
    input: z.object({ path: z.string().describe("from the root"), limit: z.int().default(10) }),
    output: z.string(),
    annotations: { readOnly: true },
    permissions: { read: ["/data"] },
    examples: [{ input: { path: "a.txt" }, output: "hello" }],
    inject: { user: injected<string>() },
    needsApproval: true,
    limits: { limitMs: 1000 },
    run: () => "hello",
  });

  expect(tool).toEqual({
    name: "read-file",
    title: "Read a file",
    description: "Reads a text file",
    version: "1.2.0",
    inputSchema: {
      type: "object",
      properties: {
        path: { type: "string", description: "from the root" },
        limit: { type: "integer", default: 10, minimum: -9_007_199_254_740_991, maximum: 9_007_199_254_740_991 },
      },
      required: ["path"],
      additionalProperties: false,
    },
    outputSchema: { type: "string" },
    annotations: { readOnly: true },
    permissions: { read: ["/data"] },
    examples: [{ input: { path: "a.txt" }, output: "hello" }],
    inject: ["user"],
    needsApproval: true,
    limits: { limitMs: 1000 },
    refine: expect.any(Function),
    code: { kind: "function", run: expect.any(Function) },
  });
});

test("defineTool() makes a tool without parameters of almost nothing", () => {
  const tool = defineTool({ name: "now", description: "Tells the time", run: () => 0 });

  expect(tool).toEqual({
    name: "now",
    description: "Tells the time",
    inputSchema: { type: "object", properties: {}, additionalProperties: false },
    annotations: {},
    permissions: {},
    examples: [],
    inject: [],
    needsApproval: false,
    limits: {},
    code: { kind: "function", run: expect.any(Function) },
  });
});

test("defineTool() knows the types of zod: defaults are optional for the caller and there for the code", () => {
  const tool = defineTool({
    ...words,
    input: z.object({ a: z.number(), b: z.number().default(1), c: z.string().optional() }),
    run(input) {
      expectTypeOf(input).toEqualTypeOf<{ a: number; b: number; c?: string | undefined }>();
      return input.a + input.b;
    },
  });

  expectTypeOf(tool).toEqualTypeOf<TypedTool<{ a: number; b?: number | undefined; c?: string | undefined }, number>>();
});

test("defineTool() knows the types of valibot", () => {
  const tool = defineTool({
    ...words,
    input: toStandardJsonSchema(v.object({ a: v.number(), b: v.optional(v.number(), 1) })),
    run(input) {
      expectTypeOf(input).toEqualTypeOf<{ a: number; b: number }>();
      return `${input.a}`;
    },
  });

  expectTypeOf(tool).toEqualTypeOf<TypedTool<{ a: number; b?: number | undefined }, string>>();
  expect(tool.inputSchema).toMatchObject({ required: ["a"], properties: { b: { type: "number", default: 1 } } });
});

test("defineTool() knows the types of arktype", () => {
  const tool = defineTool({
    ...words,
    input: type({ a: "number", b: "number = 1" }),
    run(input) {
      expectTypeOf(input).toEqualTypeOf<{ a: number; b: number }>();
      return [input.a];
    },
  });

  expectTypeOf(tool).toEqualTypeOf<TypedTool<{ a: number; b?: number }, number[]>>();
  expect(tool.inputSchema).toMatchObject({ required: ["a"] });
});

test("defineTool() takes a JSON Schema, of whose types it knows nothing", () => {
  const tool = defineTool({
    ...words,
    input: { type: "object", properties: { a: { type: "number" } } },
    run(input) {
      expectTypeOf(input).toEqualTypeOf<Readonly<Record<string, JsonValue>>>();
      return input["a"] ?? null;
    },
  });

  expectTypeOf(tool).toEqualTypeOf<TypedTool<Readonly<Record<string, unknown>>, JsonValue>>();
});

test("defineTool() knows the types of a JSON Schema that is given as const", () => {
  const tool = defineTool({
    ...words,
    input: {
      type: "object",
      properties: {
        city: { type: "string" },
        days: { type: "integer", default: 3 },
        units: { enum: ["metric", "imperial"] },
        tags: { type: "array", items: { type: ["string", "null"] } },
        place: { anyOf: [{ type: "string" }, { type: "object", properties: { id: { const: 7 } }, required: ["id"] }] },
      },
      required: ["city", "tags"],
      additionalProperties: false,
    } as const,
    output: { type: "object", properties: { degrees: { type: "number" } }, required: ["degrees"] } as const,
    examples: [{ input: { city: "Rome", tags: [] }, output: { degrees: 21 } }],
    run(input) {
      expectTypeOf(input).toEqualTypeOf<{
        readonly city: string;
        readonly days: number;
        readonly tags: readonly (string | null)[];
        readonly units?: "metric" | "imperial";
        readonly place?: string | { readonly id: 7 };
      }>();
      return { degrees: 21 };
    },
  });

  expectTypeOf(tool).toEqualTypeOf<
    TypedTool<
      {
        readonly city: string;
        readonly tags: readonly (string | null)[];
        readonly days?: number;
        readonly units?: "metric" | "imperial";
        readonly place?: string | { readonly id: 7 };
      },
      { readonly degrees: number }
    >
  >();
  expect(tool.inputSchema).toMatchObject({ required: ["city", "tags"] });
});

test("defineTool() knows an open JSON Schema only as far as it says", () => {
  defineTool({
    ...words,
    input: { type: "object", properties: { a: { type: "null" }, b: {}, c: { type: "object" } } } as const,
    run(input) {
      expectTypeOf(input.a).toEqualTypeOf<null | undefined>();
      expectTypeOf(input.b).toEqualTypeOf<JsonValue | undefined>();
      expectTypeOf(input.c).toEqualTypeOf<Readonly<Record<string, JsonValue>> | undefined>();
    },
  });
  defineTool({
    ...words,
    input: { type: "object", properties: { a: { type: "boolean" } }, additionalProperties: true } as const,
    run(input) {
      expectTypeOf(input.a).toEqualTypeOf<boolean | undefined>();
      expectTypeOf(input["other"]).toEqualTypeOf<unknown>();
    },
  });
});

test("defineTool() takes only code that returns what the output schema says", () => {
  const output = z.object({ words: z.array(z.string()) });
  const list: readonly string[] = ["a"];
  const fitting = [
    defineTool({ ...words, output, run: () => ({ words: list }) }),
    defineTool({ ...words, output, run: async () => ({ words: ["a"] }) }),
    defineTool({
      ...words,
      output,
      *run() {
        yield "on the way";
        return { words: ["a"] };
      },
    }),
  ];
  // @ts-expect-error: a list of numbers is no list of texts
  defineTool({ ...words, output, run: () => ({ words: [1] }) });
  // @ts-expect-error: nothing is no object
  defineTool({ ...words, output, run: async () => {} });
  const example = { input: {}, output: { word: "a" } };
  // @ts-expect-error: it has no words
  expect(() => defineTool({ ...words, output, examples: [example], run: () => ({ words: list }) })).toThrow("words");

  expectTypeOf(fitting[0]?.name).toEqualTypeOf<string | undefined>();
  expect(fitting).toHaveLength(3);
});

test("ToolOutcome is narrowed by its status", () => {
  const outcome = { status: "ok", output: 1 } as ToolOutcome<number>;

  if (outcome.status === "ok") expectTypeOf(outcome.output).toEqualTypeOf<number>();
  else expectTypeOf(outcome.error).toEqualTypeOf<Failure>();
  expect(outcome).toEqual({ status: "ok", output: 1 });
});

test("defineTool() knows the type of the output: from its schema, or from what the code returns", () => {
  const bySchema = defineTool({ ...words, output: z.object({ n: z.number() }), run: () => ({ n: 1 }) });
  const byValue = defineTool({ ...words, run: () => ({ n: 1 }) });
  const byPromise = defineTool({ ...words, run: async () => "a" });
  const byGenerator = defineTool({
    ...words,
    *run() {
      yield "a";
      return 1;
    },
  });
  const byAsyncGenerator = defineTool({
    ...words,
    async *run() {
      yield progress("a");
      return true;
    },
  });

  expectTypeOf(bySchema).toEqualTypeOf<TypedTool<Readonly<Record<string, unknown>>, { n: number }>>();
  expectTypeOf(byValue).toEqualTypeOf<TypedTool<Readonly<Record<string, unknown>>, { n: number }>>();
  expectTypeOf(byPromise).toEqualTypeOf<TypedTool<Readonly<Record<string, unknown>>, string>>();
  expectTypeOf(byGenerator).toEqualTypeOf<TypedTool<Readonly<Record<string, unknown>>, number>>();
  expectTypeOf(byAsyncGenerator).toEqualTypeOf<TypedTool<Readonly<Record<string, unknown>>, boolean>>();
  expect(bySchema.outputSchema).toMatchObject({ type: "object" });
});

test("defineTool() knows what the output is of code that returns nothing", () => {
  const nothing = defineTool({ ...words, run: () => {} });
  const sometimes = defineTool({ ...words, run: (): string | undefined => undefined });
  const chunks = defineTool({
    ...words,
    *run() {
      yield "a";
    },
  });

  expectTypeOf(nothing).toEqualTypeOf<TypedTool<Readonly<Record<string, unknown>>, null>>();
  expectTypeOf(sometimes).toEqualTypeOf<TypedTool<Readonly<Record<string, unknown>>, string | null>>();
  expectTypeOf(chunks).toEqualTypeOf<TypedTool<Readonly<Record<string, unknown>>, JsonValue>>();
});

test("defineTool() knows the types of what is injected", () => {
  const tool = defineTool({
    ...words,
    inject: { user: injected<{ name: string }>(), retries: injected<number>() },
    run(_input, context) {
      expectTypeOf(context.injected).toEqualTypeOf<{ readonly user: { name: string }; readonly retries: number }>();
      return context.injected.user.name;
    },
  });

  expect(tool.inject).toEqual(["user", "retries"]);
  expect(JSON.stringify(tool)).not.toContain("name:");
});

test("defineTool() makes tools that fit in one list, whatever their types", () => {
  const tools: Tool[] = [
    defineTool({ ...words, input: z.object({ a: z.number() }), run: ({ a }) => a }),
    defineTool({ ...words, input: z.object({ b: z.string() }), run: async ({ b }) => ({ b }) }),
    defineTool({ ...words, inject: { key: injected<symbol>() }, run: () => {} }),
  ];

  expect(tools).toHaveLength(3);
});

test("defineTool() asks the schema for its JSON Schema once, and for its own checks when it is used", () => {
  const schema = z.object({ name: z.string().refine((name) => name !== "root", "Nobody is root") });
  const standard = schema["~standard"];
  let conversions = 0;
  const counted = {
    "~standard": {
      ...standard,
      jsonSchema: {
        ...standard.jsonSchema,
        input: (options: Parameters<typeof standard.jsonSchema.input>[0]) => {
          conversions += 1;
          return standard.jsonSchema.input(options);
        },
      },
    },
  };

  const tool = defineTool({ ...words, input: counted, run: () => null });
  const refined = [tool.refine?.({ name: "ada" }), tool.refine?.({ name: "root" })];

  expect(conversions).toBe(1);
  expect(refined).toMatchObject([{ ok: true }, { ok: false }]);
});

test("defineTool() freezes the tool, at every level, and leaves what it was given alone", () => {
  const given = {
    ...words,
    input: { type: "object", properties: { a: { type: "number" } } },
    output: { type: "object", properties: {} },
    permissions: { read: ["/data"] },
    annotations: { readOnly: true },
    limits: { limitMs: 5 },
    examples: [{ input: { a: 1 }, output: { b: [1] } }],
    inject: { user: injected<string>() },
    run: () => ({}),
  };

  const tool = defineTool(given);

  expect(unfrozen(tool)).toEqual(["code", "code.run"]);
  expect(unfrozen(given)).toContain("permissions.read");
  expect(unfrozen(given)).toContain("examples.0.output.b");
  given.permissions.read.push("/etc");
  given.input.properties.a.type = "string";
  expect(tool.permissions.read).toEqual(["/data"]);
  expect(tool.inputSchema).toMatchObject({ properties: { a: { type: "number" } } });
});

test("defineTool() says everything that is wrong, where, and what to change", () => {
  expect(() =>
    defineTool({
      name: "read file",
      description: "",
      input: { type: "object", properties: { path: { type: "text" } } },
      output: z.date(),
      annotations: { readOnly: true, destructive: true },
      run: "code" as never,
    }),
  ).toThrowErrorMatchingInlineSnapshot(
    `[KitbagError: Cannot define the tool "read file": name: expected letters, digits, ".", "_" and "-", starting with a letter or digit, at most 64, found "read file"; description: expected a text that says what the tool does, found ""; run: expected a function, found "code"; annotations: expected readOnly or destructive, not both, found both; input.properties.path.type: expected one of string, number, integer, boolean, object, array, null, or a list of them, found "text"; output: expected a schema that JSON Schema can express, found Date cannot be represented in JSON Schema]`,
  );
});

test("defineTool() says which part was probably meant", () => {
  const definition = { ...words, inputSchema: {}, parameters: {}, execute: () => 1, run: () => 1 };

  expect(() => defineTool(definition)).toThrowErrorMatchingInlineSnapshot(
    `[KitbagError: Cannot define the tool "tool": inputSchema: expected only name, title, description, version, input, output, annotations, permissions, examples, inject, needsApproval, limits, cache, run, found an unknown part (did you mean "input"?); parameters: expected only name, title, description, version, input, output, annotations, permissions, examples, inject, needsApproval, limits, cache, run, found an unknown part; execute: expected only name, title, description, version, input, output, annotations, permissions, examples, inject, needsApproval, limits, cache, run, found an unknown part]`,
  );
});

test("defineTool() refuses an input that is no object", () => {
  expect(() => defineTool({ ...words, input: z.array(z.string()), run: () => 1 })).toThrowErrorMatchingInlineSnapshot(
    `[KitbagError: Cannot define the tool "tool": input: expected a schema of type "object", found "array"]`,
  );
});

test("defineTool() refuses examples that do not fit", () => {
  expect(() =>
    defineTool({
      ...words,
      input: z.object({ city: z.string(), days: z.int().max(7) }),
      // @ts-expect-error: the type of an example is that of the input
      examples: [{ input: { city: "Rome", days: 3 } }, { input: { citty: "Rome", days: 30 } }],
      run: () => 1,
    }),
  ).toThrowErrorMatchingInlineSnapshot(
    `[KitbagError: Cannot define the tool "tool": examples[1].input.city: expected a string, found nothing; examples[1].input.citty: expected only city, days, found an unknown parameter (did you mean "city"?); examples[1].input.days: expected at most 7, found 30]`,
  );
});

test("defineTool() refuses to inject what the model could set", () => {
  expect(() =>
    defineTool({
      ...words,
      input: z.object({ user: z.string() }),
      inject: { user: injected<string>() },
      run: () => 1,
    }),
  ).toThrowErrorMatchingInlineSnapshot(
    `[KitbagError: Cannot define the tool "tool": inject.user: expected a name that is not a parameter, found a parameter the model could set]`,
  );
});

test.for<[what: string, make: () => unknown]>([
  ["nothing", () => undefined],
  ["null", () => null],
  ["a text", () => "tool"],
  ["a list", () => []],
  ["a function", () => () => 1],
  ["an empty object", () => ({})],
  ["a name that cannot be shown", () => ({ name: Object.create(null) as unknown, run: () => 1 })],
  [
    "a description that cannot be shown",
    () => ({ ...words, description: Object.create(null) as unknown, run: () => 1 }),
  ],
  ["a name of 10 MB", () => ({ ...words, name: "a".repeat(10_000_000), run: () => 1 })],
  ["input that is a number", () => ({ ...words, input: 5, run: () => 1 })],
  ["input that is null", () => ({ ...words, input: null, run: () => 1 })],
  ["examples that are no list", () => ({ ...words, examples: {}, run: () => 1 })],
  ["an example that contains itself", () => ({ ...words, examples: [{ input: cycle() }], run: () => 1 })],
  ["injected values in a list", () => ({ ...words, inject: ["user"], run: () => 1 })],
  [
    "a part that is named __proto__",
    () => JSON.parse('{"name":"a","description":"b","__proto__":{"run":1}}') as unknown,
  ],
])("defineTool() refuses %s with a KitbagError", ([, make]) => {
  let thrown: unknown;
  try {
    defineTool(make() as never);
  } catch (cause) {
    thrown = cause;
  }

  expect(isKitbagError(thrown, "tool-invalid") && thrown.details.problems.length).toBeGreaterThan(0);
  expect(isKitbagError(thrown) && thrown.message.length).toBeLessThan(3000);
});

test("createTool() makes a tool of code of any kind", () => {
  const code = { kind: "script", path: "a.py" };

  const tool = createTool({ name: "a", description: "b", code });

  expect(tool.code).toBe(code);
});

test("createTool() names what is wrong with the parts", () => {
  expect(() => createTool({ name: 5 as never, description: "b", code: { kind: "script" } })).toThrow(
    'Cannot define the tool "5": name: expected letters',
  );
});

const words = { name: "tool", description: "Does something" };

function cycle(): Record<string, unknown> {
  const value: Record<string, unknown> = {};
  value["self"] = value;
  return value;
}

/** The paths of everything in `value` that can be changed. */
function unfrozen(value: unknown, path: readonly string[] = []): string[] {
  if ((typeof value !== "object" && typeof value !== "function") || value === null || path.includes("refine"))
    return [];
  const own = Object.isFrozen(value) || path.length === 0 ? [] : [path.join(".")];
  return [...own, ...Object.entries(value).flatMap(([key, inner]) => unfrozen(inner, [...path, key]))];
}

test("createTool() keeps which parameters name files, and they cannot change afterwards", () => {
  const files = { path: "read" as "read" | "write" };
  const tool = createTool({
    name: "t",
    description: "Reads",
    input: { type: "object" },
    files,
    code: { kind: "made-up" },
  });
  files.path = "write";

  expect(tool.files).toEqual({ path: "read" });
  expect(Object.isFrozen(tool.files)).toBe(true);
});
