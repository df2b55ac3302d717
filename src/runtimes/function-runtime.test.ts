import { expect, test } from "vitest";

import { defineTool } from "../core/define-tool.ts";
import type { CallEvent } from "../core/events.ts";
import { progress, type ToolContext, type Tool } from "../core/tool.ts";
import { createWorkspace } from "../workspace/create-workspace.ts";

test("a generator's yields are chunks and progress, and its return value is the output", async () => {
  const { workspace, events } = setUp(async function* () {
    yield progress("starting");
    yield progress({ done: 1, total: 2 });
    yield "a chunk";
    yield { rows: [1] };
    return "the output";
  });

  const outcome = await workspace.call("run");

  expect(outcome).toEqual({ status: "ok", output: "the output" });
  expect(events.slice(1, -1)).toMatchObject([
    { type: "call-progress", progress: { message: "starting" } },
    { type: "call-progress", progress: { done: 1, total: 2 } },
    { type: "call-chunk", chunk: "a chunk" },
    { type: "call-chunk", chunk: { rows: [1] } },
  ]);
});

test.for<[string, readonly unknown[], unknown]>([
  ["text", ["one ", "two"], "one two"],
  ["anything else", ["one", 2, null], ["one", 2, null]],
  ["nothing", [], null],
])("a generator that returns nothing and yields %s has that as its output", async ([, chunks, output]) => {
  const { workspace } = setUp(async function* () {
    yield* chunks;
  });

  expect(await workspace.call("run")).toEqual({ status: "ok", output });
});

test("a generator may be a plain one, or written by hand", async () => {
  const plain = setUp(function* () {
    yield "a";
    yield "b";
  });
  const steps = [{ value: "a" }, { value: "b" }, { done: true, value: undefined }];
  const byHand = setUp(() => ({ next: () => steps.shift(), [Symbol.iterator]: () => [] }));

  const outcomes = [await plain.workspace.call("run"), await byHand.workspace.call("run")];

  expect(outcomes).toEqual(outcomes.map(() => ({ status: "ok", output: "ab" })));
});

test("an object that only looks like a generator is an output", async () => {
  const { workspace } = setUp(() => ({ next: "page 2", items: [] }));

  expect(await workspace.call("run")).toEqual({ status: "ok", output: { next: "page 2", items: [] } });
});

test("a generator that throws makes the call fail, and what it yielded before was told", async () => {
  const { workspace, events } = setUp(async function* () {
    yield "a chunk";
    throw new Error("broken");
  });

  const outcome = await workspace.call("run");

  expect(outcome).toMatchObject({ status: "failed", error: { code: "tool-failed", details: { reason: "broken" } } });
  expect(events.map(({ type }) => type)).toEqual(["call-start", "call-chunk", "call-end"]);
});

test.for<[string, unknown, string]>([
  ["a BigInt", 1n, "the BigInt"],
  ["a function", () => 1, "a function"],
  ["a Date", new Date(0), "a Date"],
  ["undefined", undefined, "nothing"],
])("a generator that yields %s makes the call fail, and does not go on", async ([, chunk, found]) => {
  let wentOn = false;
  const { workspace } = setUp(async function* () {
    yield chunk;
    wentOn = true;
    return "fine";
  });

  const outcome = await workspace.call("run");

  expect(outcome).toMatchObject({ status: "failed", error: { code: "output-invalid" } });
  expect(JSON.stringify(outcome)).toContain(found);
  expect(wentOn).toBe(false);
});

test.for([true, false])("a generator that never ends fails at the largest size, heard: %o", async (isHeard) => {
  const { workspace } = setUp(
    function* () {
      for (;;) yield "x".repeat(1000);
    },
    { limits: { maxKeptBytes: 1_000_000 } },
    isHeard,
  );

  const outcome = await workspace.call("run");

  expect(outcome).toMatchObject({ error: { code: "output-too-large", details: { limitBytes: 1_000_000 } } });
});

test.for<[string, () => unknown]>([
  [
    "a plain one",
    function* () {
      for (;;) yield progress("still here");
    },
  ],
  [
    "an async one that never waits",
    async function* () {
      for (;;) yield progress("still here");
    },
  ],
])("a generator that never ends is stopped at the limit and cleaned up: %s", async ([, run]) => {
  const { workspace } = setUp(run);

  const outcome = await workspace.call("run", {}, { limitMs: 30 });

  expect(outcome).toMatchObject({ status: "failed", error: { code: "call-timeout" } });
});

test("a generator that is cancelled runs its finally block, also if that throws", async () => {
  const cleaned = Promise.withResolvers<string>();
  const { workspace } = setUp(async function* (_, { signal }) {
    try {
      for (;;) {
        yield "tick";
        await new Promise(setImmediate);
      }
    } finally {
      cleaned.resolve(`aborted: ${signal.aborted}`);
      // eslint-disable-next-line no-unsafe-finally
      throw new Error("nobody hears this");
    }
  });
  const controller = new AbortController();

  const call = workspace.call("run", {}, { signal: controller.signal });
  setImmediate(() => controller.abort());

  expect(await call).toMatchObject({ error: { code: "call-cancelled" } });
  expect(await cleaned.promise).toBe("aborted: true");
});

test("a generator by hand whose return throws changes nothing", async () => {
  const steps = [{ value: "a" }, { done: true, value: "output" }];
  const { workspace } = setUp(() => ({
    next: () => steps.shift(),
    return() {
      throw new Error("nobody hears this");
    },
    [Symbol.iterator]: () => [],
  }));

  expect(await workspace.call("run")).toEqual({ status: "ok", output: "output" });
});

type Run = (input: unknown, context: ToolContext) => unknown;

function setUp(
  run: Run,
  options: Parameters<typeof createWorkspace>[0] = {},
  isHeard = true,
): { workspace: ReturnType<typeof createWorkspace>; events: CallEvent[] } {
  const tool: Tool = defineTool({ name: "run", description: "Does something", run });
  const workspace = createWorkspace({ ...options, tools: [tool] });
  const events: CallEvent[] = [];
  if (isHeard) workspace.onEvent((event) => events.push(event));
  return { workspace, events };
}
