import { expect, test } from "vitest";

import { createTool, defineTool } from "../../core/define-tool.ts";
import type { CallEvent } from "../../core/events.ts";
import type { Runtime } from "../../core/runtime.ts";
import type { ToolContext } from "../../core/tool.ts";
import { createWorkspace } from "../create-workspace.ts";

test("a tool knows the id of its call", async () => {
  const { events, run } = setUp(({ id }) => id);

  const outcome = await run();

  expect(outcome).toEqual({ status: "ok", output: events[0]?.call });
});

test.for<[unknown, object]>([
  ["half way", { message: "half way" }],
  [
    { message: "half way", done: 1, total: 2 },
    { message: "half way", done: 1, total: 2 },
  ],
  [{ done: 0 }, { done: 0 }],
  [{ done: Number.NaN, total: Number.POSITIVE_INFINITY }, {}],
  [{ message: 3, done: "1", total: 2n, extra: () => 1 }, {}],
  [null, {}],
  [undefined, {}],
])("progress(%o) tells what progress can be, and leaves out the rest", async ([given, shown]) => {
  const { events, run } = setUp(({ progress }) => progress(given as string));

  const outcome = await run();

  expect(outcome.status).toBe("ok");
  expect(events[1]).toEqual({ type: "call-progress", call: events[0]?.call, progress: shown });
});

test("progress() of an object that contains itself does no harm", async () => {
  const cycle: Record<string, unknown> = { message: "round and round" };
  cycle["self"] = cycle;
  const { events, run } = setUp(({ progress }) => progress(cycle), { secrets: { KEY: "very-secret" } });

  const outcome = await run();

  expect(outcome.status).toBe("ok");
  expect(events[1]).toMatchObject({ progress: { message: "round and round" } });
});

test.for<[string, unknown[], object]>([
  ["words", ["read 3 files"], { message: "read 3 files" }],
  ["data", ["read", { files: 3 }], { message: "read", data: { files: 3 } }],
  ["null", ["read", null], { message: "read", data: null }],
  ["a number for words", [3], { message: "3" }],
  ["nothing", [], { message: "nothing" }],
  ["data that is no JSON", ["read", { at: Number.NaN }], { message: "read", data: "an object" }],
  ["too much data", ["read", "x".repeat(70_000)], { message: "read", data: "more than 65536 bytes" }],
  ["too many words", ["x".repeat(10_001)], { message: `${"x".repeat(10_000)}…` }],
])("log() tells %s", async ([, args, shown]) => {
  const { events, run } = setUp(({ log }) => Reflect.apply(log, undefined, args));

  const outcome = await run();

  expect(outcome.status).toBe("ok");
  expect(events[1]).toEqual({ type: "call-log", call: events[0]?.call, ...shown });
});

test("log() copies data, and shows no secret in it", async () => {
  const { events, run } = setUp(
    ({ log }) => {
      const data = { header: "Bearer very-secret", list: [1] };
      log("sent very-secret", data);
      data.list.push(2);
    },
    { secrets: { KEY: "very-secret" } },
  );

  await run();

  expect(events[1]).toMatchObject({ message: "sent [KEY]", data: { header: "Bearer [KEY]", list: [1] } });
});

test("log() says nothing after the call, or when nobody listens", async () => {
  let log: ToolContext["log"] | undefined;
  const { events, run } = setUp((context) => {
    log = context.log;
  });
  await run();
  const count = events.length;

  log?.("too late");

  expect(events).toHaveLength(count);
  const quiet = createWorkspace({
    tools: [defineTool({ name: "a", description: "Logs", run: (_, context) => context.log("unheard") })],
  });
  expect((await quiet.call("a")).status).toBe("ok");
});

test("log() says nothing once the call must stop", async () => {
  const { events, run } = setUp(
    async ({ signal, log }) => {
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
      log("too late");
    },
    { limits: { limitMs: 20 } },
  );

  await run();

  expect(events.map(({ type }) => type)).not.toContain("call-log");
});

test("spend() adds up what a call cost, and leaves out what is no cost", async () => {
  const { events, run } = setUp(({ spend }) => {
    for (const cost of [0.25, 0.5, 0, -1, Number.NaN, Infinity, "1", null, undefined]) spend(cost as number);
  });

  await run();

  expect(events.at(-1)).toMatchObject({ type: "call-end", costUsd: 0.75 });
});

test("spend() adds nothing after the call, and a call that cost nothing says nothing of it", async () => {
  let spend: ToolContext["spend"] | undefined;
  const { events, run } = setUp((context) => {
    spend = context.spend;
  });
  await run();

  spend?.(1);

  expect(events.at(-1)).not.toHaveProperty("costUsd");
});

test("spend() counts what is spent by a call that fails", async () => {
  const { events, run } = setUp(({ spend }) => {
    spend(2);
    throw new Error("no");
  });

  await run();

  expect(events.at(-1)).toMatchObject({ outcome: { status: "failed" }, costUsd: 2 });
});

test("a tool's own tools go first when it calls by bare name, then the global ones", async () => {
  const say = (name: string, text: string) => defineTool({ name, description: "Says something", run: () => text });
  const ask = defineTool({
    name: "ask",
    description: "Asks others",
    async run(_, { call }) {
      const outcomes = await Promise.all([call("both"), call("rest"), call("other/rest"), call("only")]);
      return outcomes.map((outcome) => (outcome.status === "ok" ? outcome.output : outcome.error.code));
    },
  });
  const workspace = createWorkspace({
    tools: [say("both", "global"), say("rest", "global")],
    components: [
      { name: "mine", tools: [ask, say("both", "mine")] },
      { name: "other", tools: [say("both", "other"), say("rest", "other"), say("only", "other")] },
    ],
  });

  const outcome = await workspace.call("mine/ask");

  expect(outcome).toEqual({ status: "ok", output: ["mine", "global", "other", "other"] });
});

test("a tool may not give a call inside it options of its own: those of the outer call hold", async () => {
  const { run } = setUp(({ call }) => Reflect.apply(call, undefined, ["run", {}, { maxCalls: 1000 }]), {
    limits: { maxCalls: 2 },
  });

  const outcome = await run();

  expect(JSON.stringify(outcome)).toContain("budget-spent");
});

test("a tool may cancel a call inside it, and goes on", async () => {
  const wait = defineTool({ name: "wait", description: "Waits", run: () => new Promise(() => {}) });
  const stop = new AbortController();
  const impatient = defineTool({
    name: "impatient",
    description: "Does not wait",
    async run(_, { call }) {
      const waiting = call("wait", {}, { signal: stop.signal });
      stop.abort();
      const outcome = await waiting;
      return outcome.status === "failed" ? outcome.error.code : "it waited";
    },
  });

  const outcome = await createWorkspace({ tools: [wait, impatient] }).call("impatient");

  expect(outcome).toMatchObject({ status: "ok", output: "call-cancelled" });
});

function setUp(
  run: (context: ToolContext) => unknown,
  options: Parameters<typeof createWorkspace>[0] = {},
): { run: () => ReturnType<ReturnType<typeof createWorkspace>["call"]>; events: CallEvent[] } {
  const tool = defineTool({ name: "run", description: "Does something", run: (_, context) => run(context) });
  const workspace = createWorkspace({ ...options, tools: [tool] });
  const events: CallEvent[] = [];
  workspace.onEvent((event) => events.push(event));
  return { run: () => workspace.call("run"), events };
}

test("a tool of another server can ask what the caller of the call can answer, and no other tool can", async () => {
  const seen: unknown[] = [];
  const runtime: Runtime = {
    kind: "mcp",
    async run(_tool, _input, { caller }) {
      seen.push(caller?.can("elicitation"), await caller?.ask({ kind: "sampling" } as never));
      return null;
    },
  };
  const parts = { name: "far", description: "Asks back", input: { type: "object" }, code: { kind: "mcp" } };
  const workspace = createWorkspace({ tools: [createTool(parts)], runtimes: [runtime] });
  const can = (): boolean => true;
  const answers = [{ question: { text: "yes" } }, {}];
  const ask = (): Promise<object> => Promise.resolve(answers.shift() ?? {});

  for (const mcp of [{ can, ask }, { can, ask }, { can }, undefined]) {
    await workspace.call("far", {}, { injected: { mcp } });
  }
  await workspace.call("far");

  expect(seen).toEqual([true, { text: "yes" }, true, {}, ...Array.from({ length: 6 }, () => undefined)]);
});
