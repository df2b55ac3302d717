import { expect, expectTypeOf, test } from "vitest";
import { z } from "zod";

import { defineTool } from "../../core/define-tool.ts";
import type { CallEvent } from "../../core/events.ts";
import type { Tool, TypedTool } from "../../core/tool.ts";
import { createWorkspace } from "../../workspace/create-workspace.ts";
import type { ComposedCode } from "./compose-tool.ts";
import { pipeline } from "./pipeline.ts";

test("pipeline() hands the output of each step to the next", async () => {
  const tool = pipeline({ name: "shout-length", description: "d", steps: [split, count] });

  const outcome = await createWorkspace({ tools: [tool] }).call(tool, { text: "one two three" });

  expect(outcome).toEqual({ status: "ok", output: { count: 3 } });
});

test("pipeline() has the types of its ends", () => {
  const tool = pipeline({ name: "p", description: "d", steps: [split, count] });

  expectTypeOf(tool).toEqualTypeOf<TypedTool<{ text: string; by?: string | undefined }, { count: number }>>();
});

test("pipeline() is checked by the compiler as a chain", () => {
  // @ts-expect-error: `count` gives no text
  pipeline({ name: "p", description: "d", steps: [count, split] });
  pipeline({
    name: "p",
    description: "d",
    // @ts-expect-error: `text` is a string
    steps: [count, { tool: split, input: (previous) => ({ text: previous.count }) }],
  });
});

test("pipeline() takes eight steps and forgets no type", async () => {
  const tool = pipeline({ name: "p", description: "d", steps: [inc, inc, inc, inc, inc, inc, inc, inc] });

  const outcome = await createWorkspace({ tools: [tool] }).call(tool, { number: 1 });

  expectTypeOf(tool).toEqualTypeOf<TypedTool<{ number: number }, { number: number }>>();
  expect(outcome).toMatchObject({ output: { number: 9 } });
});

test("pipeline() knows the types of any number of steps, also where inputs are made", () => {
  const toText = { tool: split, input: ({ number }: { number: number }) => ({ text: String(number) }) };
  const tool = pipeline({
    name: "p",
    description: "d",
    steps: [inc, inc, inc, inc, inc, inc, inc, inc, inc, toText, count],
  });
  const made = pipeline({
    name: "p",
    description: "d",
    steps: [
      split,
      { tool: count, input: (previous) => previous },
      { tool: split, input: ({ count: words }, { text }) => ({ text: `${words} ${text}` }) },
    ],
  });
  // @ts-expect-error: `count` gives no number
  pipeline({ name: "p", description: "d", steps: [split, count, inc] });

  expectTypeOf(tool).toEqualTypeOf<TypedTool<{ number: number }, { count: number }>>();
  expectTypeOf(made).toEqualTypeOf<TypedTool<{ text: string; by?: string | undefined }, { words: string[] }>>();
});

test("pipeline() takes tools whose types nobody knows", async () => {
  const unknown: Tool = split;
  const tool = pipeline({ name: "p", description: "d", steps: [unknown, count] });

  const outcome = await createWorkspace({ tools: [tool] }).call("p", { text: "a b" });

  expect(outcome).toMatchObject({ output: { count: 2 } });
});

test("pipeline() makes a step's input out of the previous output and the pipeline's input", async () => {
  const tool = pipeline({
    name: "p",
    description: "d",
    steps: [split, { tool: split, input: (previous, input) => ({ text: `${previous.words[0]} ${input.text}` }) }],
  });

  const outcome = await createWorkspace({ tools: [tool] }).call(tool, { text: "a b" });

  expect(outcome).toMatchObject({ output: { words: ["a", "a", "b"] } });
});

test("pipeline() takes an input of its own if the first step's input is made", async () => {
  const tool = pipeline({
    name: "p",
    description: "d",
    input: z.object({ title: z.string().transform((title) => title.length) }),
    steps: [{ tool: inc, input: ({ title }) => ({ number: title }) }],
  });

  const outcome = await createWorkspace({ tools: [tool] }).call(tool, { title: "four" });

  expectTypeOf(tool).toEqualTypeOf<TypedTool<{ title: string }, { number: number }>>();
  expect(outcome).toMatchObject({ output: { number: 5 } });
});

test("pipeline() leaves out what the next step has no parameter for, at every level", async () => {
  const give = defineTool({
    name: "give",
    description: "d",
    run: () => ({ users: [{ id: 1, secret: "x" }], extra: true }),
  });
  const take = defineTool({
    name: "take",
    description: "d",
    input: z.object({ users: z.array(z.object({ id: z.number() })) }),
    run: (input) => input,
  });
  const tool = pipeline({ name: "p", description: "d", steps: [give, take] });

  const outcome = await createWorkspace({ tools: [tool] }).call(tool, {});

  expect(outcome).toEqual({ status: "ok", output: { users: [{ id: 1 }] } });
});

test("pipeline() takes the first step's input schema and the last step's output schema", () => {
  const tool = pipeline({ name: "p", description: "d", steps: [split, count] });

  expect(tool.inputSchema).toEqual(split.inputSchema);
  expect(tool.outputSchema).toEqual(count.outputSchema);
});

test("pipeline() lets the first step's own schema library refine the input", async () => {
  const even = defineTool({
    name: "even",
    description: "d",
    input: z.object({ number: z.number().refine((number) => number % 2 === 0, "must be even") }),
    run: ({ number }) => number,
  });
  const tool = pipeline({ name: "p", description: "d", steps: [even] });

  const outcome = await createWorkspace({ tools: [tool] }).call(tool, { number: 3 });

  expect(outcome).toMatchObject({ error: { code: "step-failed", details: { code: "input-invalid" } } });
});

test("pipeline() fails with the inner code and message when a step fails, and runs nothing after it", async () => {
  let ran = 0;
  const fail = defineTool({ name: "fail", description: "d", run: () => Promise.reject(new Error("disk is full")) });
  const after = defineTool({ name: "after", description: "d", run: () => (ran += 1) });
  const tool = pipeline({ name: "p", description: "d", steps: [fail, { tool: after, input: () => ({}) }] });

  const outcome = await createWorkspace({ tools: [tool] }).call(tool, {});

  expect(outcome).toMatchObject({
    error: {
      code: "step-failed",
      message: 'Cannot finish "p": step "1: fail" failed: Cannot finish "p/fail": the tool failed: disk is full',
      details: { tool: "p", step: "1: fail", code: "tool-failed" },
    },
  });
  expect(ran).toBe(0);
});

test("pipeline() says which step's mapping threw", async () => {
  const tool = pipeline({
    name: "p",
    description: "d",
    steps: [
      split,
      {
        tool: split,
        input: () => {
          throw new TypeError("no words");
        },
      },
    ],
  });

  const outcome = await createWorkspace({ tools: [tool] }).call(tool, { text: "a" });

  expect(outcome).toMatchObject({
    error: { details: { step: "2: split", code: "tool-failed", reason: "no words" } },
  });
});

test("pipeline() nests, and keeps the code of what failed at the bottom", async () => {
  const fail = defineTool({ name: "fail", description: "d", run: () => Promise.reject(new Error("no")) });
  const inner = pipeline({ name: "inner", description: "d", steps: [fail] });
  const outer = pipeline({ name: "outer", description: "d", steps: [inner] });

  const outcome = await createWorkspace({ tools: [outer] }).call(outer, {});

  expect(outcome).toMatchObject({ error: { code: "step-failed", details: { tool: "outer", code: "tool-failed" } } });
});

test("pipeline() calls its parts the way every call takes", async () => {
  const events: CallEvent[] = [];
  const tool = pipeline({ name: "p", description: "d", steps: [split, count] });
  const workspace = createWorkspace({ tools: [tool], approve: () => ({ decision: "approve" }) });

  await workspace.call(tool, { text: "a" }, { onEvent: (event) => events.push(event) });

  const asked = events.filter((event) => event.type === "approval-request").map((event) => event.tool);
  expect(asked).toEqual(["p", "p/split", "p/count"]);
});

test("pipeline() leaves approval to its parts: a denied one ends it", async () => {
  const remove = defineTool({ name: "remove", description: "d", needsApproval: true, run: () => "removed" });
  const tool = pipeline({ name: "p", description: "d", steps: [remove] });

  const outcome = await createWorkspace({ tools: [tool] }).call(tool, {});

  expect(tool.needsApproval).toBe(false);
  expect(outcome).toMatchObject({ error: { code: "step-failed", details: { code: "approval-missing" } } });
});

test("pipeline() carries its parts, each once", () => {
  const tool = pipeline({ name: "p", description: "d", steps: [inc, inc] });

  expect((tool.code as ComposedCode).parts).toEqual([inc]);
});

test("pipeline() stops at the step that runs when it is cancelled", async () => {
  const controller = new AbortController();
  let ran = 0;
  const wait = defineTool({
    name: "wait",
    description: "d",
    run: (_input, { signal }) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener("abort", () => reject(new Error("stopped")));
        controller.abort();
      }),
  });
  const after = defineTool({ name: "after", description: "d", run: () => (ran += 1) });
  const tool = pipeline({ name: "p", description: "d", steps: [wait, { tool: after, input: () => ({}) }] });

  const outcome = await createWorkspace({ tools: [tool] }).call(tool, {}, { signal: controller.signal });

  expect(outcome).toMatchObject({ error: { code: "call-cancelled" } });
  expect(ran).toBe(0);
});

test.for<[unknown, string]>([
  [[], "steps: expected a list of tools, found an empty list"],
  [undefined, "steps: expected a list of tools, found nothing"],
  ["split", 'steps: expected a list of tools, found "split"'],
  [[null], "steps[0]: expected a tool, found null"],
  [[{ tool: 3 }], "steps[0].tool: expected a tool, found 3"],
  [["split"], 'steps[0]: expected a tool, found "split"'],
])("pipeline() refuses %j as steps", ([steps, message]) => {
  const define = (): unknown => pipeline({ name: "p", description: "d", steps: steps as never });

  expect(define).toThrow(`Cannot define the tool "p": ${message}`);
});

test("pipeline() refuses a mapping that is no function", () => {
  const define = (): unknown =>
    pipeline({ name: "p", description: "d", steps: [split, { tool: count, input: "words" as never }] });

  expect(define).toThrow('steps[1].input: expected a function that makes the input, found "words"');
});

test("pipeline() asks for a schema if the first step's input is made", () => {
  const define = (): unknown =>
    pipeline({ name: "p", description: "d", steps: [{ tool: inc, input: () => ({ number: 1 }) }] });

  expect(define).toThrow("input: expected a schema, because the first step's input is made, found nothing");
});

const split = defineTool({
  name: "split",
  description: "Splits a text",
  input: z.object({ text: z.string(), by: z.string().default(" ") }),
  output: z.object({ words: z.array(z.string()) }),
  run: ({ text, by }) => ({ words: text.split(by) }),
});

const count = defineTool({
  name: "count",
  description: "Counts words",
  input: z.object({ words: z.array(z.string()) }),
  output: z.object({ count: z.number() }),
  run: ({ words }) => ({ count: words.length }),
});

const inc = defineTool({
  name: "inc",
  description: "Adds one",
  input: z.object({ number: z.number() }),
  run: ({ number }) => ({ number: number + 1 }),
});
