import { onTestFinished, expect, test } from "vitest";
import * as z from "zod";

import { createAgent } from "../../src/agent/create-agent.ts";
import type { AgentOptions } from "../../src/agent/agent-options.ts";
import type { Agent } from "../../src/agent/agent-interface.ts";
import { createWorkspace } from "../../src/workspace/create-workspace.ts";
import { defineTool } from "../../src/core/define-tool.ts";
import { isRecord, type JsonObject, type JsonValue } from "../../src/core/json.ts";
import { followReferences, isSchemaObject, type JsonSchema } from "../../src/core/schema/json-schema.ts";
import type { SchemaSource } from "../../src/core/schema/to-schema.ts";
import { checkStrictly } from "../../src/core/schema/validator.ts";
import { fallback } from "../../src/models/route/fallback.ts";
import { resolveModel } from "../../src/models/resolve/resolve-model.ts";
import type { ScriptedReply } from "../support/model-server-answer.ts";
import { type AskedOutput, type OutputSupport, readOutput } from "../support/model-server-schemas.ts";
import { type DialectName, type ModelServer, type ReceivedRequest, startModelServer } from "../support/model-server.ts";

interface Cell {
  readonly name: string;
  readonly dialect: DialectName;
  readonly model: string;
  readonly output?: OutputSupport;
}

const cells: readonly Cell[] = [
  { name: "openai", dialect: "openai-responses", model: "openai/gpt-5.2" },
  { name: "openai-chat", dialect: "openai-chat", model: "openai-chat/gpt-5.2" },
  { name: "anthropic", dialect: "anthropic", model: "anthropic/claude-sonnet-4-5" },
  { name: "anthropic (old)", dialect: "anthropic", model: "anthropic/claude-3-haiku-20240307" },
  { name: "google", dialect: "google", model: "google/gemini-3-pro-preview" },
  { name: "google (old)", dialect: "google", model: "google/gemini-2.5-flash" },
  { name: "ollama", dialect: "ollama", model: "ollama/qwen3" },
  { name: "lmstudio", dialect: "openai-compatible", model: "lmstudio/qwen3", output: "grammar" },
  { name: "compatible (schema)", dialect: "openai-compatible", model: "openai-compatible/llama-4", output: "schema" },
  { name: "compatible (json)", dialect: "openai-compatible", model: "openai-compatible/llama-4", output: "json" },
  { name: "compatible (none)", dialect: "openai-compatible", model: "openai-compatible/llama-4", output: "none" },
  { name: "compatible (ignored)", dialect: "openai-compatible", model: "openai-compatible/llama-4", output: "ignored" },
];

interface Shape {
  readonly name: string;
  readonly schema: SchemaSource;
  /** What the run gives. */
  readonly value: JsonValue;
}

type Tree = { value: number; children?: Tree[] | undefined };
const tree: z.ZodType<Tree> = z.object({ value: z.number(), children: z.lazy(() => z.array(tree)).optional() });
type Branch = { value: number; children: Branch[] };
const branch: z.ZodType<Branch> = z.object({ value: z.number(), children: z.lazy(() => z.array(branch)) });
const many = Object.fromEntries(Array.from({ length: 14 }, (_, index) => [`field${index}`, z.string().optional()]));
const ref = {
  type: "object",
  properties: { name: { type: "string" }, next: { $ref: "#/$defs/node" } },
  required: ["name"],
};
const cat = z.object({ kind: z.literal("cat"), lives: z.number(), name: z.string().optional() });
const dog = z.object({ kind: z.literal("dog"), good: z.boolean() });

const shapes: readonly Shape[] = [
  {
    name: "flat",
    schema: z.object({ a: z.string(), b: z.number(), c: z.boolean(), d: z.int() }),
    value: { a: "x", b: 1.5, c: true, d: 2 },
  },
  { name: "optional", schema: z.object({ x: z.string(), y: z.number().optional() }), value: { x: "a" } },
  {
    name: "optional that is there",
    schema: z.object({ x: z.string(), y: z.number().optional() }),
    value: { x: "a", y: 1 },
  },
  {
    name: "nested optional",
    schema: z.object({
      a: z.object({ b: z.object({ c: z.string().optional(), d: z.enum(["x", "y"]).optional() }).optional() }),
    }),
    value: { a: { b: {} } },
  },
  { name: "many optional", schema: z.object(many), value: { field3: "x" } },
  {
    name: "list of objects",
    schema: z.object({ list: z.array(z.object({ a: z.string(), b: z.number().optional() })) }),
    value: { list: [{ a: "x" }, { a: "y", b: 1 }] },
  },
  {
    name: "enum",
    schema: z.object({ color: z.enum(["red", "green"]), size: z.literal([1, 2]), always: z.literal(true) }),
    value: { color: "red", size: 2, always: true },
  },
  {
    name: "mixed enum",
    schema: { type: "object", properties: { e: { enum: ["a", 1, null] } }, required: ["e"] },
    value: { e: null },
  },
  {
    name: "anyOf",
    schema: z.object({ v: z.union([z.string(), z.number(), z.object({ a: z.string() })]) }),
    value: { v: { a: "x" } },
  },
  {
    name: "oneOf",
    schema: z.object({ pet: z.discriminatedUnion("kind", [cat, dog]) }),
    value: { pet: { kind: "cat", lives: 9 } },
  },
  {
    name: "oneOf in JSON Schema",
    schema: {
      type: "object",
      properties: { v: { type: "string", oneOf: [{ const: "a" }, { const: "b" }] } },
      required: ["v"],
    },
    value: { v: "b" },
  },
  {
    name: "nullable",
    schema: z.object({ a: z.string().nullable(), b: z.number().nullable() }),
    value: { a: null, b: 1 },
  },
  {
    name: "nullish",
    schema: z.object({ a: z.string().nullish(), b: z.string().nullish() }),
    value: { a: null, b: "x" },
  },
  {
    name: "record",
    schema: z.object({ ages: z.record(z.string(), z.number()) }),
    value: { ages: { ada: 36, bob: 40 } },
  },
  { name: "open object", schema: z.looseObject({ a: z.string() }), value: { a: "x", more: [1] } },
  { name: "anything", schema: z.object({ a: z.unknown() }), value: { a: { b: [1, "x"] } } },
  { name: "recursive", schema: tree, value: { value: 1, children: [{ value: 2 }, { value: 3, children: [] }] } },
  { name: "recursive and required", schema: branch, value: { value: 1, children: [{ value: 2, children: [] }] } },
  {
    name: "recursive $defs",
    schema: { $ref: "#/$defs/node", $defs: { node: ref } },
    value: { name: "a", next: { name: "b" } },
  },
  {
    name: "shared definitions",
    schema: {
      type: "object",
      properties: {
        from: { $ref: "#/definitions/place", description: "Where from" },
        to: { $ref: "#/definitions/place" },
      },
      required: ["from", "to"],
      definitions: { place: { type: "object", properties: { city: { type: "string" } }, required: ["city"] } },
    },
    value: { from: { city: "Rome" }, to: { city: "Bern" } },
  },
  {
    name: "formats",
    schema: z.object({
      mail: z.email(),
      at: z.iso.datetime(),
      url: z.url(),
      id: z.uuid(),
      ip: z.ipv4(),
      b64: z.base64(),
    }),
    value: {
      mail: "ada@example.com",
      at: "2026-01-01T00:00:00Z",
      url: "https://example.com",
      id: "123e4567-e89b-42d3-a456-426614174000",
      ip: "127.0.0.1",
      b64: "aGk=",
    },
  },
  {
    name: "limits",
    schema: z.object({
      n: z.number().min(1).max(10).multipleOf(0.5),
      s: z
        .string()
        .min(2)
        .max(5)
        .regex(/^(?=a)[a-z]+$/u),
      list: z.array(z.int()).min(2).max(3),
    }),
    value: { n: 1.5, s: "abc", list: [1, 2] },
  },
  { name: "default", schema: z.object({ a: z.string().default("x"), b: z.number() }), value: { a: "x", b: 1 } },
  { name: "empty object", schema: z.object({}), value: {} },
  { name: "list at the top", schema: z.array(z.object({ a: z.string().optional() })), value: [{ a: "x" }, {}] },
  { name: "text at the top", schema: z.string(), value: "x" },
  { name: "number at the top", schema: z.number().min(0), value: 42 },
  { name: "enum at the top", schema: z.enum(["yes", "no"]), value: "no" },
  { name: "union at the top", schema: z.discriminatedUnion("kind", [cat, dog]), value: { kind: "dog", good: true } },
  { name: "nullable at the top", schema: z.object({ a: z.string() }).nullable(), value: null },
  { name: "recursive list at the top", schema: { type: "array", items: { $ref: "#" } }, value: [[], [[]]] },
  { name: "tuple", schema: z.object({ at: z.tuple([z.number(), z.string()]) }), value: { at: [1, "x"] } },
  {
    name: "intersection",
    schema: z.object({ p: z.intersection(z.object({ a: z.string() }), z.object({ b: z.number() })) }),
    value: { p: { a: "x", b: 1 } },
  },
  {
    name: "conditions",
    schema: {
      type: "object",
      properties: { a: { type: "string" } },
      if: { required: ["a"] },
      then: { properties: { b: { type: "number" } } },
    },
    value: { a: "x", b: 1 },
  },
];

const table = shapes.flatMap((shape) =>
  cells.map((cell) => ({ shape, cell, name: `${shape.name} with ${cell.name}` })),
);

test.for(table)("run() gives the output $name", async ({ shape: { schema, value }, cell }) => {
  const { agent, server } = await startCell(cell, (request) => ({ text: writeAnswer(request, value) }));

  const output = await agent.run("Give it to me", { output: schema }).output();

  expect(output).toEqual(value);
  expect(server.refused.slice(0, refusalsOf(cell))).toEqual(server.refused);
});

test("run() holds an answer to its schema wherever the provider can", async () => {
  const rows: string[] = [];

  for (const shape of shapes) {
    const ways: string[] = [];
    for (const cell of cells) {
      const { agent, server } = await startCell(cell, (request) => ({ text: writeAnswer(request, shape.value) }));
      await agent.run("Give it to me", { output: shape.schema }).output();
      ways.push(wayOf(server.requests.at(-1)).way);
    }
    rows.push(`${shape.name.padEnd(26)}${ways.map((way) => way.padEnd(7)).join("")}`.trimEnd());
  }

  expect(`\n${rows.join("\n")}\n`).toMatchInlineSnapshot(`
    "
    flat                      strict strict strict tool   strict strict strict strict strict json   prompt strict
    optional                  strict strict strict tool   strict strict strict strict strict json   prompt strict
    optional that is there    strict strict strict tool   strict strict strict strict strict json   prompt strict
    nested optional           strict strict strict tool   strict strict strict strict strict json   prompt strict
    many optional             strict strict strict tool   strict strict strict strict strict json   prompt strict
    list of objects           strict strict strict tool   strict strict strict strict strict json   prompt strict
    enum                      strict strict strict tool   strict strict strict strict strict json   prompt strict
    mixed enum                strict strict strict tool   strict strict strict strict strict json   prompt strict
    anyOf                     strict strict strict tool   strict strict strict strict strict json   prompt strict
    oneOf                     strict strict strict tool   strict strict strict strict strict json   prompt strict
    oneOf in JSON Schema      strict strict strict tool   strict strict strict strict strict json   prompt strict
    nullable                  strict strict strict tool   strict strict strict strict strict json   prompt strict
    nullish                   strict strict strict tool   strict strict strict strict strict json   prompt strict
    record                    loose  loose  prompt prompt strict strict strict strict json   json   prompt json
    open object               loose  loose  prompt prompt strict strict strict strict json   json   prompt json
    anything                  loose  loose  prompt prompt prompt prompt json   json   json   json   prompt json
    recursive                 strict strict prompt prompt strict strict strict strict strict json   prompt strict
    recursive and required    strict strict prompt prompt prompt prompt strict strict strict json   prompt strict
    recursive $defs           strict strict prompt prompt strict strict strict strict strict json   prompt strict
    shared definitions        strict strict strict tool   strict strict strict strict strict json   prompt strict
    formats                   strict strict strict tool   strict strict strict strict strict json   prompt strict
    limits                    strict strict strict tool   strict strict strict strict strict json   prompt strict
    default                   strict strict strict tool   strict strict strict strict strict json   prompt strict
    empty object              strict strict strict tool   strict strict strict strict strict json   prompt strict
    list at the top           strict strict strict tool   strict strict strict strict strict json   prompt strict
    text at the top           strict strict strict tool   strict strict strict strict strict json   prompt strict
    number at the top         strict strict strict tool   strict strict strict strict strict json   prompt strict
    enum at the top           strict strict strict tool   strict strict strict strict strict json   prompt strict
    union at the top          strict strict strict tool   strict strict strict strict strict json   prompt strict
    nullable at the top       strict strict strict tool   strict strict strict strict strict json   prompt strict
    recursive list at the top strict strict prompt prompt prompt prompt strict strict strict json   prompt strict
    tuple                     loose  loose  prompt prompt strict strict strict strict json   json   prompt json
    intersection              strict strict strict tool   strict strict strict strict strict json   prompt strict
    conditions                loose  loose  prompt prompt prompt prompt json   json   json   json   prompt json
    "
  `);
});

const tooled = shapes.filter(({ name }) => ["optional", "record", "list at the top"].includes(name));

test.for(tooled.flatMap((shape) => cells.map((cell) => ({ shape, cell, name: `${shape.name} with ${cell.name}` }))))(
  "run() gives the output $name after a call",
  async ({ shape: { schema, value }, cell }) => {
    const made: string[] = [];
    const look = defineTool({ name: "look", description: "Looks", run: () => void made.push("look") });
    const { agent, server } = await startCell(
      cell,
      (request) => {
        const { way } = wayOf(request);
        // What a grammar holds cannot be a call.
        const isHeld = ["ollama", "openai-compatible"].includes(request.dialect) && way !== "prompt";
        if (request.results.length === 0 && !isHeld) return { calls: [{ id: "call_1", name: "look", input: {} }] };
        return { text: writeAnswer(request, value) };
      },
      { workspace: createWorkspace({ tools: [look] }) },
    );

    const output = await agent.run("Give it to me", { output: schema }).output();

    expect({ output, made }).toEqual({ output: value, made: ["look"] });
    expect(server.refused).toEqual([]);
  },
);

test.for(cells)("run() has an output mended that is wrong, with $name", async (cell) => {
  let asked = 0;
  const schema = z.object({ n: z.number().refine((n) => n < 10), s: z.string().optional() });
  const { agent } = await startCell(cell, (request) => ({ text: writeAnswer(request, { n: ++asked === 1 ? 11 : 9 }) }));

  expect(await agent.run("Give it to me", { output: schema }).output()).toEqual({ n: 9 });
});

test.for(cells)("run() has an output continued that the output limit cut, with $name", async (cell) => {
  const schema = z.object({ city: z.string(), country: z.string().optional() });
  let asked = 0;
  const { agent, server } = await startCell(cell, () => {
    asked += 1;
    return asked === 1 ? { text: '{"city": "Ro', isCutShort: true } : { text: 'me", "country": null}' };
  });

  const { output, steps } = await agent.run("Give it to me", { output: schema });

  expect({ output, steps }).toEqual({ output: { city: "Rome" }, steps: 2 });
  expect(server.refused.slice(0, refusalsOf(cell))).toEqual(server.refused);
});

test("run() tries a server's weaker ways once, and then goes on with what it takes", async () => {
  const { agent, server } = await startCell(
    cells.find(({ output }) => output === "none")!,
    (request) => ({
      text: writeAnswer(request, { a: "x" }),
    }),
  );

  for (let run = 0; run < 3; run++) await agent.run("Give it to me", { output: z.object({ a: z.string() }) });

  expect(server.refused).toHaveLength(2);
  expect(server.requests).toHaveLength(5);
});

test("run() asks each model of a group in its own way", async () => {
  const [first, second] = [cells.find(({ name }) => name === "openai")!, cells.find(({ name }) => name === "google")!];
  const busy = await startCell(first, () => ({ status: 529, message: "Overloaded" }));
  const good = await startCell(second, (request) => ({ text: writeAnswer(request, { ages: { ada: 36 } }) }));
  const agent = createAgent({ model: fallback([busy.model, good.model]), workspace: createWorkspace() });

  const output = await agent.run("Ages?", { output: z.object({ ages: z.record(z.string(), z.number()) }) }).output();

  expect(output).toEqual({ ages: { ada: 36 } });
  expect([wayOf(busy.server.requests[0]).way, wayOf(good.server.requests[0]).way]).toEqual(["loose", "strict"]);
});

test("run() does not ask in weaker ways for what is refused for another reason", async () => {
  const { agent, server } = await startCell(cells[0]!, () => ({ status: 401, message: "No" }));

  const { error } = await agent.run("Give it to me", { output: z.object({ a: z.string() }) }).result;

  expect(error?.code).toBe("model-denied");
  expect(server.requests).toHaveLength(1);
});

test("the servers refuse what their providers refuse", async () => {
  const ask = async (name: string, schema: unknown): Promise<string> => {
    const cell = cells.find((one) => one.name === name)!;
    const { server, model } = await startCell(cell, () => ({ text: "{}" }));
    const responseFormat = { type: "json", schema } as const;
    const prompt = [{ role: "user" as const, content: [{ type: "text" as const, text: "Hi" }] }];
    await Promise.resolve(model.doGenerate({ prompt, responseFormat: responseFormat as never })).catch(() => undefined);
    return server.refused.join();
  };
  const object = (properties: object, more: object = {}): object => ({
    type: "object",
    properties,
    required: Object.keys(properties),
    additionalProperties: false,
    ...more,
  });
  const text = { type: "string" };

  expect(await ask("openai", object({ x: text, y: text }, { required: ["x"] }))).toContain("Missing 'y'");
  expect(await ask("openai-chat", { ...object({ x: text }), additionalProperties: true })).toContain("to be false");
  expect(await ask("openai", object({ x: { oneOf: [text] } }))).toContain("'oneOf' is not permitted");
  expect(await ask("openai", { type: "array", items: text })).toContain("'type: \"object\"'");
  expect(await ask("google", object({ x: { ...text, pattern: "^a" } }))).toContain('Unknown name "pattern"');
  expect(
    await ask("google", object({ x: { $ref: "#/$defs/n" } }, { $defs: { n: object({ x: { $ref: "#/$defs/n" } }) } })),
  ).toContain("cyclic");
  expect(await ask("compatible (json)", object({ x: text }))).toContain("unavailable");
  expect(await ask("compatible (none)", object({ x: text }))).toContain("not permitted");
  expect(await ask("anthropic (old)", { type: "array", items: text })).toContain("Input should be 'object'");
});

interface StartedCell {
  readonly server: ModelServer;
  readonly agent: Agent;
  readonly model: Awaited<ReturnType<typeof resolveModel>>;
}

async function startCell(
  { dialect, model: name, output }: Cell,
  reply: (request: ReceivedRequest) => ScriptedReply,
  options: Partial<AgentOptions> = {},
): Promise<StartedCell> {
  const server = await startModelServer(
    (request) => asTool(request, reply(request)),
    output === undefined ? {} : { output },
  );
  onTestFinished(() => server.close());
  const model = await resolveModel(name, { baseUrl: server.url(dialect), apiKey: server.key, env: {} });
  const agent = createAgent({ model, workspace: createWorkspace(), retries: { maxRetries: 0 }, ...options });
  return { server, agent, model };
}

/** Packages that have no other way make a tool of the schema, which the model is forced to call. */
function asTool(request: ReceivedRequest, reply: ScriptedReply): ScriptedReply {
  if ("status" in reply || reply.text === undefined || wayOf(request).way !== "tool") return reply;
  if (reply.isCutShort === true) return reply;
  return { calls: [{ id: "call_json", name: "json", input: JSON.parse(reply.text) as JsonObject }] };
}

function wayOf(request: ReceivedRequest | undefined): AskedOutput {
  return readOutput(request?.dialect ?? "", request?.body ?? {});
}

/** How often a server may refuse before it is asked in a way that it knows. */
function refusalsOf({ output }: Cell): number {
  return output === "json" ? 1 : output === "none" ? 2 : 0;
}

/** Writes a value as a model must that is held to the schema of a request, or has read it in the prompt. */
function writeAnswer(request: ReceivedRequest, value: JsonValue): string {
  const { schema = schemaInPrompt(request) } = wayOf(request);
  const written = write(schema, schema, isWrapped(schema, value) ? { answer: value } : value);
  expect(checkStrictly(schema, written)).toEqual([]);
  return JSON.stringify(written);
}

function schemaInPrompt({ system }: ReceivedRequest): JsonSchema {
  const [, text = ""] = /must match this JSON Schema:\n(.*)$/mu.exec(system) ?? [];
  return JSON.parse(text) as JsonSchema;
}

function isWrapped(schema: JsonSchema, value: JsonValue): boolean {
  const { properties } = schema;
  const names = isRecord(properties) ? Object.keys(properties) : [];
  return names.join() === "answer" && !(isRecord(value) && "answer" in value);
}

/** Null for every property that must be there and is not. */
function write(root: JsonSchema, given: unknown, value: JsonValue): JsonValue {
  const schema = followReferences(root, given);
  if (!isSchemaObject(schema)) return value;
  const { anyOf, properties, items, required } = schema;
  if (Array.isArray(anyOf)) {
    const written = anyOf.map((one) => write(root, one, value));
    const fitting = written.find((one, index) => {
      const { $defs } = root;
      return checkStrictly({ ...(followReferences(root, anyOf[index]) as JsonSchema), $defs }, one).length === 0;
    });
    return fitting ?? value;
  }
  if (Array.isArray(value)) return value.map((item) => write(root, items, item as JsonValue));
  if (!isRecord(value) || !isSchemaObject(properties)) return value;
  const written: Record<string, JsonValue> = {};
  for (const [name, item] of Object.entries(value)) written[name] = write(root, properties[name], item);
  for (const name of Array.isArray(required) ? (required as string[]) : []) written[name] ??= null;
  return written;
}
