import * as fc from "fast-check";
import { expect, test } from "vitest";
import { z } from "zod";

import { createMeter } from "../../../test/support/create-meter.ts";
import { defineTool } from "../../core/define-tool.ts";
import type { CallEvent } from "../../core/events.ts";
import type { JsonObject, JsonValue } from "../../core/json.ts";
import type { ToolOutcome } from "../../core/outcome.ts";
import type { Tool } from "../../core/tool.ts";
import { createWorkspace } from "../../workspace/create-workspace.ts";
import type { Workspace, WorkspaceOptions } from "../../workspace/workspace.ts";
import { definePipeline } from "./define-pipeline.ts";
import { pipelineRuntime } from "./pipeline-runtime.ts";
import type { PipelineSpec, PipelineStep } from "./pipeline-spec.ts";

test("a pipeline hands outputs on, whole and inside text, and answers with data", async () => {
  const outcome = await run({
    steps: [
      { id: "one", tool: "echo", args: { value: "$input.number" } },
      { id: "two", tool: "echo", args: { value: { list: ["$one.value", "$prev.value"], text: "is ${one.value}!" } } },
    ],
    input: { number: 7 },
  });

  expect(outcome).toEqual({ status: "ok", output: { value: { list: [7, 7], text: "is 7!" } } });
});

test("a pipeline answers with its output template", async () => {
  const outcome = await run({
    steps: [
      { id: "ny", tool: "echo", args: { value: "08:00" } },
      { id: "rome", tool: "echo", args: { value: { at: "14:00" } } },
    ],
    output: { text: "NY: $ny.value, Rome: ${rome.value}", last: "$prev", cost: "$$5", gone: "$ny.none" },
  });

  expect(outcome).toEqual({
    status: "ok",
    output: { text: 'NY: 08:00, Rome: {"at":"14:00"}', last: { value: { at: "14:00" } }, cost: "$5" },
  });
});

test("a pipeline leaves out an argument whose reference leads nowhere, so that the tool's default holds", async () => {
  const outcome = await run({ steps: [{ tool: "greet", args: { name: "$input.name" } }], input: {} });

  expect(outcome).toMatchObject({ output: "Hello you" });
});

test("a pipeline takes one reference for all the arguments", async () => {
  const outcome = await run({ steps: [{ tool: "echo", args: "$input" }], input: { value: 3 } });

  expect(outcome).toMatchObject({ output: { value: 3 } });
});

test("a pipeline runs at the same time what does not depend on each other", async () => {
  const meter = createMeter();
  const steps = [{ tool: "meter" }, { tool: "meter" }, { tool: "meter" }];

  await run({ steps, tools: [meter.tool] });

  expect(meter.most()).toBe(3);
});

test("a pipeline runs one after the other what names the other under `after` or as $prev", async () => {
  const meter = createMeter();
  const steps = [
    { id: "a", tool: "meter" },
    { id: "b", tool: "meter", after: "a" },
    { tool: "meter", if: "$prev or true" },
  ];

  await run({ steps, tools: [meter.tool] });

  expect(meter.most()).toBe(1);
});

test("a step whose condition does not hold does not run, and its value is null", async () => {
  const outcome = await run({
    steps: [
      { id: "skipped", tool: "fail", if: "$input.force" },
      { id: "after", tool: "echo", args: { value: "$skipped" } },
      { id: "deep", tool: "echo", args: { value: ["$skipped.a.b"] } },
    ],
    output: { skipped: "$skipped", after: "$after.value", deep: "$deep.value" },
    input: { force: false },
  });

  expect(outcome).toEqual({ status: "ok", output: { skipped: null, after: null, deep: [null] } });
});

test("a step with forEach answers with the outputs in order", async () => {
  const outcome = await run({
    steps: [{ tool: "echo", forEach: "$input.list", args: { value: "$index: $item.name" } }],
    input: { list: [{ name: "a" }, { name: "b" }] },
  });

  expect(outcome).toEqual({ status: "ok", output: [{ value: "0: a" }, { value: "1: b" }] });
});

test("a step with forEach runs so many items at once and no more", async () => {
  const eight = createMeter();
  const two = createMeter();
  const list = Array.from({ length: 30 }, (_, index) => index);

  await run({ steps: [{ tool: "meter", forEach: list }], tools: [eight.tool] });
  await run({ steps: [{ tool: "meter", forEach: list, maxConcurrent: 2 }], tools: [two.tool] });

  expect([eight.most(), two.most()]).toEqual([8, 2]);
});

test("a condition that looks at the item is asked for each item", async () => {
  const outcome = await run({
    steps: [{ tool: "echo", forEach: [1, 5, 9], if: "$item > 3 and $index < 2", args: { value: "$item" } }],
  });

  expect(outcome).toMatchObject({ output: [null, { value: 5 }, null] });
});

test("a condition that does not look at the item is asked once, before the list is", async () => {
  const outcome = await run({
    steps: [{ tool: "echo", forEach: "$input.none", if: "$input.none", args: { value: 1 } }],
    input: {},
  });

  expect(outcome).toEqual({ status: "ok", output: null });
});

test("a failing step ends the pipeline with its code and message, and what has not begun does not begin", async () => {
  const meter = createMeter();

  const outcome = await run({
    steps: [
      { id: "broken", tool: "fail" },
      { tool: "meter", after: "broken" },
    ],
    tools: [meter.tool],
  });

  expect(outcome).toMatchObject({
    error: {
      code: "step-failed",
      message: 'Cannot finish "p": step "broken" failed: Cannot finish "fail": the tool failed: no luck',
      details: { tool: "p", step: "broken", code: "tool-failed" },
    },
  });
  expect(meter.most()).toBe(0);
});

test("a failing step cancels the steps that are running", async () => {
  const stopped = Promise.withResolvers<void>();
  const never = defineTool({
    name: "never",
    description: "d",
    run: (_input, { signal }) => {
      signal.addEventListener("abort", () => stopped.resolve());
      return new Promise(() => {});
    },
  });

  const outcome = await run({ steps: [{ tool: "never" }, { tool: "fail" }], tools: [never] });

  expect(outcome).toMatchObject({ error: { details: { step: "steps[1]" } } });
  await stopped.promise;
});

test("a step with continueOnError has the value null and tells why under $errors", async () => {
  const outcome = await run({
    steps: [
      { id: "bad", tool: "fail", continueOnError: true },
      { id: "good", tool: "echo", args: { value: 1 }, continueOnError: true },
      { id: "next", tool: "echo", args: { value: "after $bad" }, if: "$errors.bad.code == 'tool-failed'" },
    ],
    output: { bad: "$bad", next: "$next.value", error: "$errors.bad", none: "$errors.good" },
  });

  expect(outcome).toEqual({
    status: "ok",
    output: {
      bad: null,
      next: "after ",
      error: { code: "tool-failed", message: 'Cannot finish "fail": the tool failed: no luck' },
      none: null,
    },
  });
});

test("a step with forEach and continueOnError has null for each item that failed, and tells which", async () => {
  const outcome = await run({
    steps: [{ id: "each", tool: "even", forEach: [1, 2, 3], args: { number: "$item" }, continueOnError: true }],
    output: { values: "$each", errors: "$errors.each" },
  });

  expect(outcome).toMatchObject({
    output: {
      values: [null, 2, null],
      errors: [
        { index: 0, code: "tool-failed" },
        { index: 2, code: "tool-failed" },
      ],
    },
  });
});

test("a failing item is named, and no further one is started", async () => {
  let started = 0;
  const count = defineTool({
    name: "count",
    description: "d",
    async run() {
      started += 1;
      if (started === 2) throw new Error("two");
      await new Promise((resolve) => setTimeout(resolve, 5));
      return started;
    },
  });

  const outcome = await run({
    steps: [{ id: "each", tool: "count", forEach: [1, 2, 3, 4, 5], maxConcurrent: 2 }],
    tools: [count],
  });

  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(outcome).toMatchObject({ error: { details: { step: "each[1]", code: "tool-failed" } } });
  expect(started).toBe(2);
});

test.for<[string, PipelineStep, string]>([
  [
    "a list that is none",
    { tool: "echo", forEach: "$input.text", args: {} },
    'forEach: expected a list of at most 10000 items, found "abc"',
  ],
  [
    "no list",
    { tool: "echo", forEach: "$input.none", args: {} },
    "forEach: expected a list of at most 10000 items, found nothing",
  ],
  ["a list that is too long", { tool: "echo", forEach: "$input.long", args: {} }, "found a list of 10001"],
  ["arguments that are no object", { tool: "echo", args: "$input.text" }, 'args: expected an object, found "abc"'],
  ["arguments that are null", { tool: "echo", args: "$input.nil" }, "args: expected an object, found null"],
  [
    "a comparison that means nothing",
    { tool: "echo", args: {}, if: "$input.text > 3" },
    'cannot tell which is greater, "abc" or 3',
  ],
  [
    "a text without end",
    { tool: "echo", args: { value: "$input.big ".repeat(20) } },
    "its text would be longer than 16777216 characters",
  ],
])("a step with %s fails with what is wrong", async ([, step, message]) => {
  const input = { text: "abc", nil: null, long: Array.from({ length: 10_001 }, () => 0), big: "x".repeat(1_000_000) };

  const outcome = await run({ steps: [step], input });

  expect(outcome).toMatchObject({ error: { code: "step-failed", details: { code: "input-invalid" } } });
  expect(outcome).toMatchObject({ error: { message: expect.stringContaining(message) as string } });
});

test("a step without an id may fail too, if it has continueOnError", async () => {
  const outcome = await run({ steps: [{ tool: "fail", continueOnError: true }] });

  expect(outcome).toEqual({ status: "ok", output: null });
});

test("continueOnError also covers a step that cannot be asked", async () => {
  const outcome = await run({
    steps: [{ id: "a", tool: "echo", forEach: "$input.none", args: {}, continueOnError: true }],
    output: "$errors.a.code",
    input: {},
  });

  expect(outcome).toEqual({ status: "ok", output: "input-invalid" });
});

test("a pipeline's output is checked by its tools' schemas, wherever in it their references must lead now", async () => {
  const node = { type: "object", properties: { next: { $ref: "#/$defs/node" } }, additionalProperties: false };
  const tree = defineTool({
    name: "tree",
    description: "d",
    output: { $ref: "#/$defs/node", $defs: { node } },
    run: () => ({ next: { next: {} } }),
  });
  const pipeline = definePipeline(
    {
      name: "p",
      description: "d",
      steps: [{ id: "t", tool: "tree" }],
      output: { "a/b~c%41 \ud800": "$t", two: { deep: "$t.next" } },
    },
    { resolve: () => tree },
  );

  const outcome = await createTestWorkspace({ tools: [tree, pipeline] }).call("p", {});

  expect(JSON.stringify(pipeline.outputSchema)).toContain("#/properties/a~1b~0c%2541");
  expect(outcome).toMatchObject({ output: { two: { deep: { next: {} } } } });
});

test("a pipeline inside a pipeline is a tool like any other", async () => {
  const inner = pipelineOf({
    name: "inner",
    steps: [{ id: "e", tool: "echo", args: { value: "<$input.text>" } }],
    output: { text: "$e.value" },
  });
  const middle = pipelineOf({
    name: "middle",
    steps: [{ tool: "inner", args: { text: "($input.text)" } }],
  });

  const outcome = await run({
    steps: [{ tool: "middle", forEach: ["a", "b"], args: { text: "$item" } }],
    tools: [inner, middle],
  });

  expect(outcome).toEqual({ status: "ok", output: [{ text: "<(a)>" }, { text: "<(b)>" }] });
});

test("a failure at the bottom of pipelines keeps its code", async () => {
  const inner = pipelineOf({ name: "inner", steps: [{ tool: "fail" }] });

  const outcome = await run({ steps: [{ id: "in", tool: "inner" }], tools: [inner] });

  expect(outcome).toMatchObject({ error: { details: { tool: "p", step: "in", code: "tool-failed" } } });
});

test("a pipeline that calls itself is ended", async () => {
  const outcome = await run({ steps: [{ tool: "p" }] });

  expect(outcome).toMatchObject({ error: { code: "step-failed", details: { code: "call-cycle" } } });
});

test("a pipeline calls its tools the way every call takes", async () => {
  const events: CallEvent[] = [];
  const workspace = createTestWorkspace({
    tools: [pipelineOf({ steps: [{ id: "a", tool: "echo", args: { value: "x" } }] })],
    approve: ({ address }) => {
      return address === "echo" ? { decision: "deny", reason: "not today" } : { decision: "approve" };
    },
  });

  const outcome = await workspace.call("p", {}, { onEvent: (event) => events.push(event) });

  expect(outcome).toMatchObject({ error: { details: { code: "approval-denied" } } });
  expect(events.map((event) => event.type)).toContain("approval-denied");
  expect(events).toContainEqual(
    expect.objectContaining({ type: "call-progress", progress: { message: "a", done: 0, total: 1 } }),
  );
});

test("a pipeline finds the tool that is there when it runs", async () => {
  const workspace = createTestWorkspace({ tools: [pipelineOf({ steps: [{ tool: "late" }] })] });

  const before = await workspace.call("p", {});
  workspace.add(defineTool({ name: "late", description: "d", run: () => "here" }));
  const after = await workspace.call("p", {});

  expect(before).toMatchObject({ error: { details: { code: "tool-not-found" } } });
  expect(after).toMatchObject({ output: "here" });
});

test("a pipeline that is cancelled starts no further step, also with continueOnError", async () => {
  const controller = new AbortController();
  const meter = createMeter();
  const cancel = defineTool({
    name: "cancel",
    description: "d",
    async run() {
      controller.abort();
      await new Promise((resolve) => setTimeout(resolve, 5));
      return null;
    },
  });
  const workspace = createTestWorkspace({
    tools: [
      cancel,
      meter.tool,
      pipelineOf({
        steps: [
          { id: "c", tool: "cancel", continueOnError: true },
          { tool: "meter", after: "c" },
        ],
      }),
    ],
  });

  const outcome = await workspace.call("p", {}, { signal: controller.signal });

  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(outcome).toMatchObject({ error: { code: "call-cancelled" } });
  expect(meter.most()).toBe(0);
});

test("a pipeline spends its caller's budget of calls", async () => {
  const workspace = createTestWorkspace({
    tools: [pipelineOf({ steps: [{ tool: "echo", forEach: [1, 2, 3, 4], args: { value: "$item" } }] })],
  });

  const outcome = await workspace.call("p", {}, { maxCalls: 2 });

  expect(outcome).toMatchObject({ error: { code: "step-failed", details: { code: "budget-spent" } } });
});

test("a pipeline runs 200 steps", async () => {
  const steps = Array.from({ length: 200 }, (_, index) => ({
    id: `s${index}`,
    tool: "echo",
    args: { value: index === 0 ? [0] : [`$s${index - 1}.value[0]`, index] },
  }));

  const outcome = await run({ steps });

  expect(outcome).toMatchObject({ output: { value: [0, 199] } });
});

test("any pipeline without a circle runs each step once, after the steps it refers to", async () => {
  await fc.assert(
    fc.asyncProperty(acyclicSteps(), async (steps) => {
      const finished: string[] = [];
      const trace = defineTool({
        name: "trace",
        description: "d",
        input: z.object({ id: z.string(), sees: z.array(z.string()) }),
        async run({ id, sees }) {
          const early = sees.filter((name) => !finished.includes(name));
          for (let turn = 0; turn < id.length; turn++) await Promise.resolve();
          finished.push(id);
          return { id, early };
        },
      });

      const outcome = await run({ steps, tools: [trace], output: steps.map(({ id }) => `$${id}`) });

      expect(finished.toSorted()).toEqual(steps.map(({ id }) => id).toSorted());
      expect(outcome).toEqual({ status: "ok", output: steps.map(({ id }) => ({ id, early: [] })) });
    }),
    { numRuns: 60 },
  );
});

/** Steps that look at each other's outputs and name each other under `after`, in any order, without a circle. */
function acyclicSteps(): fc.Arbitrary<{ id: string; tool: string; args: JsonObject; after: string[] }[]> {
  const edge = fc.record({ from: fc.nat(11), to: fc.nat(11), isAfter: fc.boolean() });
  const size = fc.integer({ min: 1, max: 12 });
  return fc
    .tuple(size, fc.array(edge, { maxLength: 30 }), fc.infiniteStream(fc.nat()))
    .map(([count, edges, random]) => {
      const ranks = Array.from({ length: count }, () => random.next().value as number);
      return ranks.map((rank, index) => {
        const before = edges.filter(({ from, to }) => from === index && to < count && (ranks[to] ?? 0) < rank);
        const ids = (isAfter: boolean): string[] =>
          before.filter((one) => one.isAfter === isAfter).map(({ to }) => `s${to}`);
        // The tool sees the ids that came out of the steps before it, and those it was only told to wait for.
        const sees = [...ids(false).map((id) => `$${id}.id`), ...ids(true)];
        return { id: `s${index}`, tool: "trace", args: { id: `s${index}`, sees }, after: ids(true) };
      });
    });
}

const echo = defineTool({
  name: "echo",
  description: "Answers with what it is given",
  input: { type: "object", properties: { value: {} } },
  run: ({ value = null }) => ({ value }),
});

const fail = defineTool({ name: "fail", description: "d", run: () => Promise.reject(new Error("no luck")) });

const greet = defineTool({
  name: "greet",
  description: "d",
  input: z.object({ name: z.string().default("you") }),
  run: ({ name }) => `Hello ${name}`,
});

const even = defineTool({
  name: "even",
  description: "d",
  input: { properties: { number: { type: "number" } } },
  run({ number }) {
    if (Number(number) % 2 === 1) throw new Error("odd");
    return number;
  },
});

function createTestWorkspace({ tools = [], ...options }: WorkspaceOptions): Workspace {
  return createWorkspace({ ...options, tools: [echo, fail, greet, even, ...tools], runtimes: [pipelineRuntime()] });
}

function pipelineOf(spec: Partial<PipelineSpec> & { readonly steps: readonly PipelineStep[] }): Tool {
  return definePipeline({ name: "p", description: "d", ...spec });
}

function run(test: {
  readonly steps: readonly PipelineStep[];
  readonly output?: JsonValue;
  readonly input?: JsonObject;
  readonly tools?: readonly Tool[];
}): Promise<ToolOutcome> {
  const { steps, output, input = {}, tools = [] } = test;
  const isOpen = { input: { type: "object", additionalProperties: true } };
  const pipeline = pipelineOf({ steps, ...isOpen, ...(output !== undefined && { output }) });
  return createTestWorkspace({ tools: [pipeline, ...tools], limits: { maxCalls: 20_000 } }).call("p", input);
}
