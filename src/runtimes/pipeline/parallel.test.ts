import { expect, expectTypeOf, test } from "vitest";
import { z } from "zod";

import { createMeter } from "../../../test/support/create-meter.ts";
import { defineTool } from "../../core/define-tool.ts";
import type { TypedTool } from "../../core/tool.ts";
import { createWorkspace } from "../../workspace/create-workspace.ts";
import { parallel } from "./parallel.ts";

test("parallel() answers with every output under its key", async () => {
  const tool = parallel({ name: "p", description: "d", tools: { weather, news } });

  const outcome = await createWorkspace({ tools: [tool] }).call(tool, { city: "Rome", topic: "art" });

  expectTypeOf(tool).toEqualTypeOf<
    TypedTool<{ city: string } & { topic: string }, { readonly weather: { sun: string }; readonly news: string }>
  >();
  expect(outcome).toEqual({ status: "ok", output: { weather: { sun: "Rome" }, news: "about art" } });
});

test("parallel() gives tools their own input out of its own", async () => {
  const tool = parallel({
    name: "p",
    description: "d",
    input: z.object({ city: z.string() }),
    tools: { weather, local: { tool: news, input: ({ city }) => ({ topic: city }) } },
  });

  const outcome = await createWorkspace({ tools: [tool] }).call(tool, { city: "Rome" });

  expectTypeOf(tool).toEqualTypeOf<TypedTool<{ city: string }, { weather: { sun: string }; local: string }>>();
  expect(outcome).toMatchObject({ output: { weather: { sun: "Rome" }, local: "about Rome" } });
});

test("parallel() is checked by the compiler", () => {
  const input = z.object({ city: z.string() });
  // @ts-expect-error: `news` needs a topic
  parallel({ name: "p", description: "d", input, tools: { weather, news } });
  const mapped = { tool: news, input: ({ city }: { city: string }) => ({ topic: city.length }) };
  // @ts-expect-error: a topic is a string
  parallel({ name: "p", description: "d", input, tools: { mapped } });
});

test("parallel() runs its tools at the same time", async () => {
  const meter = createMeter();
  const tool = parallel({ name: "p", description: "d", tools: { a: meter.tool, b: meter.tool, c: meter.tool } });

  await createWorkspace({ tools: [tool] }).call(tool, {});

  expect(meter.most()).toBe(3);
});

test("parallel() fails at once when one fails, and cancels the others", async () => {
  const stopped = Promise.withResolvers<void>();
  const never = defineTool({
    name: "never",
    description: "d",
    run: (_input, { signal }) =>
      new Promise(() => {
        signal.addEventListener("abort", () => stopped.resolve());
      }),
  });
  const fail = defineTool({ name: "fail", description: "d", run: () => Promise.reject(new Error("no")) });
  const tool = parallel({ name: "p", description: "d", tools: { never, fail } });

  const outcome = await createWorkspace({ tools: [tool] }).call(tool, {});

  expect(outcome).toMatchObject({ error: { code: "step-failed", details: { step: "fail", code: "tool-failed" } } });
  await stopped.promise;
});

test("parallel() takes every parameter that one of its tools has", () => {
  const tool = parallel({ name: "p", description: "d", tools: { weather, news } });

  expect(tool.inputSchema).toEqual({
    type: "object",
    properties: { city: { type: "string" }, topic: { type: "string" } },
    required: ["city", "topic"],
    additionalProperties: false,
  });
});

test("parallel() has the output schemas of its tools, with references that still lead somewhere", async () => {
  const tree = defineTool({
    name: "tree",
    description: "d",
    output: {
      $ref: "#/$defs/node",
      $defs: { node: { type: "object", properties: { next: { $ref: "#/$defs/node" } }, additionalProperties: false } },
    },
    run: () => ({ next: { next: { wrong: 1 } } }),
  });
  const tool = parallel({ name: "p", description: "d", tools: { tree, weather } });
  const lax = defineTool({ name: "tree", description: "d", run: () => ({ next: { next: { wrong: 1 } } }) });
  const checked = defineTool({
    name: "checked",
    description: "d",
    output: tool.outputSchema ?? {},
    run: async (_input, { call }) => {
      const outcome = await call(lax, {});
      return { tree: outcome.status === "ok" ? outcome.output : null, weather: { sun: "x" } };
    },
  });

  const outcome = await createWorkspace({ tools: [checked, lax] }).call(checked, {});

  expect(tool.outputSchema).toMatchObject({ properties: { tree: { $ref: "#/properties/tree/$defs/node" } } });
  expect(outcome).toMatchObject({
    error: { code: "output-invalid", details: { problems: [{ path: "tree.next.next.wrong" }] } },
  });
});

test("parallel() asks for an input when its tools disagree about a parameter", () => {
  const other = defineTool({ name: "o", description: "d", input: z.object({ city: z.number() }), run: () => null });

  const define = (): unknown => parallel({ name: "p", description: "d", tools: { weather, other } as never });

  expect(define).toThrow(
    'input: expected an "input" schema, and "{ tool, input }" for each tool that takes something else, found tools that disagree about the parameter "city"',
  );
});

test("parallel() asks for an input when a tool's input is made", () => {
  const made = { tool: weather, input: () => ({ city: "Rome" }) };

  const define = (): unknown => parallel({ name: "p", description: "d", tools: { made } as never });

  expect(define).toThrow("input: expected a schema, because the input of a tool is made, found nothing");
});

test.for<[unknown, string]>([
  [{}, "tools: expected an object with 1 to 64 tools, found an object"],
  [null, "tools: expected an object with 1 to 64 tools, found null"],
  [[], "tools: expected an object with 1 to 64 tools, found an empty list"],
  [{ a: "weather" }, 'tools.a: expected a tool, found "weather"'],
  [JSON.parse('{"__proto__":1}'), "tools: expected keys of letters"],
  [Object.fromEntries(Array.from({ length: 65 }, (_, index) => [`t${index}`, 1])), "found 65"],
])("parallel() refuses %j as tools", ([tools, message]) => {
  const define = (): unknown => parallel({ name: "p", description: "d", tools: tools as never });

  expect(define).toThrow(message);
});

const weather = defineTool({
  name: "weather",
  description: "d",
  input: z.object({ city: z.string() }),
  output: z.object({ sun: z.string() }),
  run: ({ city }) => ({ sun: city }),
});

const news = defineTool({
  name: "news",
  description: "d",
  input: z.object({ topic: z.string() }),
  run: ({ topic }) => `about ${topic}`,
});
