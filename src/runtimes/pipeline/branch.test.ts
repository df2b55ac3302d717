import { expect, expectTypeOf, test } from "vitest";
import { z } from "zod";

import { defineTool } from "../../core/define-tool.ts";
import type { TypedTool } from "../../core/tool.ts";
import { createWorkspace } from "../../workspace/create-workspace.ts";
import { branch } from "./branch.ts";

const shout = defineTool({
  name: "shout",
  description: "d",
  input: z.object({ text: z.string() }),
  output: z.string(),
  run: ({ text }) => text.toUpperCase(),
});

const lines = defineTool({
  name: "lines",
  description: "d",
  input: z.object({ text: z.string(), wide: z.number() }),
  run: ({ text, wide }) => Math.ceil(text.length / wide),
});

test("branch() runs the one tool or the other", async () => {
  const tool = branch({
    name: "b",
    description: "d",
    when: ({ text, wide }) => text.length > wide,
    use: lines,
    otherwise: shout,
  });
  const workspace = createWorkspace({ tools: [tool] });

  const long = await workspace.call(tool, { text: "abcd", wide: 2 });
  const short = await workspace.call(tool, { text: "a", wide: 2 });

  expectTypeOf(tool).toEqualTypeOf<TypedTool<{ text: string; wide: number } & { text: string }, number | string>>();
  expect(long).toMatchObject({ output: 2 });
  expect(short).toMatchObject({ output: "A" });
});

test("branch() answers null if the condition does not hold and there is nothing else to use", async () => {
  const tool = branch({ name: "b", description: "d", when: () => Promise.resolve(false), use: shout });

  const outcome = await createWorkspace({ tools: [tool] }).call(tool, { text: "a" });

  expectTypeOf(tool).toEqualTypeOf<TypedTool<{ text: string }, string | null>>();
  expect(outcome).toEqual({ status: "ok", output: null });
  expect(tool.outputSchema).toEqual({ anyOf: [{ type: "null" }, { type: "string" }] });
});

test("branch() chooses between several tools", async () => {
  const tool = branch({
    name: "b",
    description: "d",
    choose: ({ wide }) => (wide > 3 ? "shout" : "lines"),
    cases: { shout, lines },
  });
  const workspace = createWorkspace({ tools: [tool] });

  const loud = await workspace.call(tool, { text: "a", wide: 4 });
  const narrow = await workspace.call(tool, { text: "a", wide: 1 });

  expect(loud).toMatchObject({ output: "A" });
  expect(narrow).toMatchObject({ output: 1 });
});

test("branch() makes inputs out of an input of its own", async () => {
  const two = branch({
    name: "two",
    description: "d",
    input: z.object({ word: z.string() }),
    when: ({ word }) => word !== "",
    use: { tool: shout, input: ({ word }) => ({ text: word }) },
  });
  const several = branch({
    name: "several",
    description: "d",
    input: z.object({ word: z.string() }),
    choose: () => "loud" as const,
    cases: { loud: { tool: shout, input: ({ word }) => ({ text: word }) } },
  });
  const workspace = createWorkspace({ tools: [two, several] });

  expectTypeOf(two).toEqualTypeOf<TypedTool<{ word: string }, string | null>>();
  expectTypeOf(several).toEqualTypeOf<TypedTool<{ word: string }, string>>();
  expect(await workspace.call(two, { word: "a" })).toMatchObject({ output: "A" });
  expect(await workspace.call(several, { word: "b" })).toMatchObject({ output: "B" });
});

test("branch() is checked by the compiler", () => {
  // @ts-expect-error: there is no such case
  branch({ name: "b", description: "d", choose: () => "quiet", cases: { shout } });
  // @ts-expect-error: there is no such parameter
  branch({ name: "b", description: "d", when: ({ size }) => size > 1, use: shout });
});

test("branch() fails if what it chose is no case, and names the nearest", async () => {
  const tool = branch({ name: "b", description: "d", choose: () => "shuot" as "shout", cases: { shout, lines } });

  const outcome = await createWorkspace({ tools: [tool] }).call(tool, { text: "a", wide: 1 });

  expect(outcome).toMatchObject({
    error: {
      message:
        'Cannot finish "b": step "choose" failed: it chose "shuot", and the cases are shout, lines; did you mean "shout"?',
    },
  });
});

test("branch() finds no case under the names that every object has", async () => {
  const tool = branch({ name: "b", description: "d", choose: () => "constructor" as "shout", cases: { shout } });

  const outcome = await createWorkspace({ tools: [tool] }).call(tool, { text: "a" });

  expect(outcome).toMatchObject({ error: { details: { step: "choose" } } });
});

test("branch() says that the condition threw", async () => {
  const tool = branch({
    name: "b",
    description: "d",
    when: () => {
      throw new Error("undecided");
    },
    use: shout,
  });

  const outcome = await createWorkspace({ tools: [tool] }).call(tool, { text: "a" });

  expect(outcome).toMatchObject({ error: { details: { step: "when", code: "tool-failed", reason: "undecided" } } });
});

test("branch() says nothing about its output if one of its tools does not", () => {
  const tool = branch({ name: "b", description: "d", when: () => true, use: shout, otherwise: lines });

  expect(tool.outputSchema).toBeUndefined();
});

test.for<[object, string]>([
  [{ when: true, use: shout }, "when: expected a function, found true"],
  [{ when: () => true }, "use: expected a tool, found nothing"],
  [{ when: () => true, use: shout, otherwise: 1 }, "otherwise: expected a tool, found 1"],
  [{ choose: () => "a", cases: {} }, "cases: expected an object of tools, found an object"],
  [{ choose: () => "a", cases: { a: null } }, "cases.a: expected a tool, found null"],
  [{ cases: { a: shout } }, "choose: expected a function, found nothing"],
])("branch() refuses %o", ([wrong, message]) => {
  const define = (): unknown => branch({ name: "b", description: "d", ...wrong } as never);

  expect(define).toThrow(`Cannot define the tool "b": ${message}`);
});
