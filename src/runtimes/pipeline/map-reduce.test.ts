import { expect, expectTypeOf, test } from "vitest";
import { z } from "zod";

import { createMeter } from "../../../test/support/create-meter.ts";
import { defineTool } from "../../core/define-tool.ts";
import type { TypedTool } from "../../core/tool.ts";
import { createWorkspace } from "../../workspace/create-workspace.ts";
import type { ComposedCode } from "./compose-tool.ts";
import { mapReduce } from "./map-reduce.ts";

test("mapReduce() runs the tool on every item and puts the outputs together in order", async () => {
  const tool = mapReduce({
    name: "m",
    description: "d",
    map: square,
    reduce: (squares, { items }) => ({ squares: [...squares], count: items.length }),
  });

  const outcome = await createWorkspace({ tools: [tool] }).call(tool, { items: [{ number: 3 }, { number: 2 }] });

  expectTypeOf(tool).toEqualTypeOf<
    TypedTool<{ readonly items: readonly { number: number }[] }, { squares: number[]; count: number }>
  >();
  expect(outcome).toEqual({ status: "ok", output: { squares: [9, 4], count: 2 } });
});

test("mapReduce() reduces with a tool", async () => {
  const sum = defineTool({
    name: "sum",
    description: "d",
    input: z.object({ items: z.array(z.number()).readonly() }),
    output: z.number(),
    run: ({ items }) => items.reduce((total, next) => total + next, 0),
  });
  const tool = mapReduce({ name: "m", description: "d", map: square, reduce: sum });

  const outcome = await createWorkspace({ tools: [tool] }).call(tool, { items: [{ number: 3 }, { number: 2 }] });

  expect(outcome).toEqual({ status: "ok", output: 13 });
  expect(tool.outputSchema).toEqual({ type: "number" });
  expect((tool.code as ComposedCode).parts).toEqual([square, sum]);
});

test("mapReduce() makes items, inputs and the last input out of an input of its own", async () => {
  const join = defineTool({
    name: "join",
    description: "d",
    input: z.object({ text: z.string() }),
    run: ({ text }) => text,
  });
  const tool = mapReduce({
    name: "m",
    description: "d",
    input: z.object({ numbers: z.array(z.number()), unit: z.string() }),
    items: ({ numbers }) => numbers,
    map: { tool: square, input: (item, index) => ({ number: item + index }) },
    reduce: { tool: join, input: (outputs, { unit }) => ({ text: `${outputs.join()} ${unit}` }) },
  });

  const outcome = await createWorkspace({ tools: [tool] }).call(tool, { numbers: [1, 1], unit: "m" });

  expectTypeOf(tool).toEqualTypeOf<TypedTool<{ numbers: number[]; unit: string }, string>>();
  expect(outcome).toMatchObject({ output: "1,4 m" });
});

test("mapReduce() answers for no items", async () => {
  const tool = mapReduce({ name: "m", description: "d", map: square, reduce: (squares) => squares.length });

  const outcome = await createWorkspace({ tools: [tool] }).call(tool, { items: [] });

  expect(outcome).toMatchObject({ output: 0 });
});

test("mapReduce() runs so many items at once and no more", async () => {
  const meter = createMeter();
  const tool = mapReduce({ name: "m", description: "d", map: meter.tool, maxConcurrent: 3, reduce: () => null });

  await createWorkspace({ tools: [tool] }).call(tool, { items: Array.from({ length: 20 }, () => ({})) });

  expect(meter.most()).toBe(3);
});

test("mapReduce() names the item that failed and starts no further one", async () => {
  let started = 0;
  const fragile = defineTool({
    name: "fragile",
    description: "d",
    input: z.object({ number: z.number() }),
    async run({ number }) {
      started += 1;
      if (number === 2) throw new Error("two");
      await new Promise((resolve) => setTimeout(resolve, 20));
      return number;
    },
  });
  const tool = mapReduce({ name: "m", description: "d", map: fragile, maxConcurrent: 2, reduce: () => null });
  const items = Array.from({ length: 50 }, (_, index) => ({ number: index + 1 }));

  const outcome = await createWorkspace({ tools: [tool] }).call(tool, { items });

  await new Promise((resolve) => setTimeout(resolve, 60));
  expect(outcome).toMatchObject({ error: { code: "step-failed", details: { step: "map[1]", code: "tool-failed" } } });
  expect(started).toBe(2);
});

test("mapReduce() takes a list of its tool's inputs, as long as it may be", async () => {
  const tool = mapReduce({ name: "m", description: "d", map: square, maxItems: 2, reduce: () => null });
  const workspace = createWorkspace({ tools: [tool] });

  const tooMany = await workspace.call("m", { items: [{ number: 1 }, { number: 1 }, { number: 1 }] });
  const wrong = await workspace.call("m", { items: [{ nubmer: 1 }] });

  expect(tooMany).toMatchObject({
    error: { code: "input-invalid", details: { problems: [{ path: "items", expected: "at most 2 items" }] } },
  });
  expect(wrong).toMatchObject({ error: { code: "input-invalid" } });
});

test.for<[unknown, string]>([
  ["abc", 'expected a list of at most 2 items, found "abc"'],
  [undefined, "found nothing"],
  [[1, 2, 3], "found a list of 3"],
])("mapReduce() fails if its items are %j", async ([items, message]) => {
  const tool = mapReduce({
    name: "m",
    description: "d",
    input: z.object({}),
    items: () => items as number[],
    map: { tool: square, input: (number) => ({ number }) },
    maxItems: 2,
    reduce: () => null,
  });

  const outcome = await createWorkspace({ tools: [tool] }).call(tool, {});

  expect(outcome).toMatchObject({ error: { code: "step-failed", details: { step: "items", code: "input-invalid" } } });
  expect(outcome).toMatchObject({ error: { message: expect.stringContaining(message) as string } });
});

test("mapReduce() says that the reducing function threw", async () => {
  const tool = mapReduce({
    name: "m",
    description: "d",
    map: square,
    reduce: () => {
      throw new Error("nothing to add");
    },
  });

  const outcome = await createWorkspace({ tools: [tool] }).call(tool, { items: [] });

  expect(outcome).toMatchObject({ error: { details: { step: "reduce", reason: "nothing to add" } } });
});

test.for<[object, string]>([
  [{ map: null }, "map: expected a tool, found null"],
  [{ reduce: 3 }, "reduce: expected a tool, found 3"],
  [{ maxConcurrent: 0 }, "maxConcurrent: expected a whole number from 1, found 0"],
  [{ maxItems: Number.NaN }, "maxItems: expected a whole number from 1, found NaN"],
  [{ items: () => [] }, "input: expected a schema, because the input of the tool is made, found nothing"],
  [{ items: "numbers" }, 'items: expected a function that takes the list out of the input, found "numbers"'],
])("mapReduce() refuses %o", ([wrong, message]) => {
  const right = { name: "m", description: "d", map: square, reduce: () => null };

  const define = (): unknown => mapReduce({ ...right, ...wrong } as never);

  expect(define).toThrow(`Cannot define the tool "m": ${message}`);
});

const square = defineTool({
  name: "square",
  description: "d",
  input: z.object({ number: z.number() }),
  run: ({ number }) => number * number,
});
