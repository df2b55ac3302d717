import { AsyncLocalStorage } from "node:async_hooks";
import { getEventListeners } from "node:events";
import fc from "fast-check";
import { expect, test } from "vitest";

import { createTool, defineTool } from "../core/define-tool.ts";
import type { CallEvent } from "../core/events.ts";
import type { ToolOutcome } from "../core/outcome.ts";
import { type ToolContext, progress, injected, type Tool } from "../core/tool.ts";
import { memoryStore } from "../store/memory-store.ts";
import { createWorkspace } from "./create-workspace.ts";
import type { Workspace } from "./workspace.ts";

test.for<[unknown, string, string]>([
  [null, "options", "found null, expected an object"],
  [3, "options", "found 3, expected an object"],
  [{ timeout: 3 }, "timeout", "an unknown option"],
  [{ limitms: 3 }, "limitms", 'expected "limitMs"'],
  [JSON.parse('{"__proto__": 1}'), "__proto__", "an unknown option"],
  [{ signal: {} }, "signal", "expected an AbortSignal"],
  [{ limitMs: 0 }, "limitMs", "found 0, expected a number above 0"],
  [{ limitMs: -1 }, "limitMs", "found -1"],
  [{ limitMs: Number.NaN }, "limitMs", "found NaN"],
  [{ limitMs: "3" }, "limitMs", "a string that is not one"],
  [{ maxOutputBytes: 0 }, "maxOutputBytes", "expected a number above 0"],
  [{ maxCalls: -1 }, "maxCalls", "expected a number from 0"],
  [{ maxCalls: "1" }, "maxCalls", "expected a number from 0"],
  [{ injected: "key" }, "injected", "expected an object"],
  [{ approve: true }, "approve", "expected a function"],
  [{ user: 3 }, "user", "expected a text"],
  [{ from: {} }, "from", "expected a text"],
  [{ onEvent: "x" }, "onEvent", "expected a function"],
])("call() fails for the options %o, and takes the same way as any other call", async ([options, option, text]) => {
  const { workspace, events, ran } = setUp();

  const outcome = await workspace.call("count", {}, options as never);

  expect(outcome).toMatchObject({ status: "failed", error: { code: "option-invalid", details: { option } } });
  expect(outcome.status === "failed" && outcome.error.message).toContain(text);
  expect(events).toMatchObject([
    { type: "call-start", tool: "count" },
    { type: "call-end", tool: "count", outcome },
  ]);
  expect(ran()).toBe(0);
});

test("call() fails for wrong options of a call of nothing, too", async () => {
  const { workspace } = setUp();

  const outcome = await workspace.call("nobody", {}, { limitMs: 0 });

  expect(outcome).toMatchObject({ error: { code: "option-invalid" } });
});

test("call() takes options that say nothing", async () => {
  const { workspace } = setUp();
  const nothing = { signal: undefined, limitMs: undefined, user: undefined } as never;

  expect(await workspace.call("count", {}, nothing)).toEqual({ status: "ok", output: 1 });
});

test("call() fails for options that throw when they are read", async () => {
  const { workspace, ran } = setUp();
  const hostile = {
    get limitMs(): number {
      throw new Error("do not look");
    },
  };

  const outcome = await workspace.call("count", {}, hostile);

  expect(outcome).toMatchObject({ status: "failed", error: { code: "call-crashed", details: { tool: "count" } } });
  expect(ran()).toBe(0);
});

test("call() is not changed by what becomes of its options afterwards", async () => {
  const { workspace } = setUp();
  const options: { limitMs?: number; user: string } = { user: "ada", limitMs: 60_000 };
  const users: unknown[] = [];

  const call = workspace.call("slow", {}, options);
  Object.assign(options, { limitMs: 0.001, user: "eve", onEvent: (event: CallEvent) => users.push(event) });

  expect(await call).toMatchObject({ status: "ok" });
  expect(users).toEqual([]);
});

test("call() with from takes the tools of that owner first", async () => {
  const { workspace } = setUp();
  workspace.addComponent({
    name: "box",
    tools: [defineTool({ name: "count", description: "Boxes", run: () => "box" })],
  });

  const outcomes = await Promise.all([
    workspace.call("count", {}, { from: "box" }),
    workspace.call("count", {}, { from: "x" }),
  ]);

  expect(outcomes.map((outcome) => outcome.status === "ok" && outcome.output)).toEqual(["box", 1]);
});

test("call() leaves no listener on a signal that many calls share, however they end", async () => {
  const { workspace } = setUp();
  const controller = new AbortController();
  const { signal } = controller;

  await Promise.all([
    workspace.call("count", {}, { signal }),
    workspace.call("slow", {}, { signal }),
    workspace.call("slow", {}, { signal, limitMs: 0.001 }),
    workspace.call("nobody", {}, { signal }),
    workspace.call("count", { wrong: 1 }, { signal }),
  ]);

  expect(getEventListeners(signal, "abort")).toEqual([]);
});

test.for<[string, (workspace: Workspace, input: unknown) => Promise<unknown>]>([
  ["from outside", (workspace, input) => workspace.call("box/work", input)],
  ["by its wire name", (workspace, input) => workspace.call("box__work", input)],
  ["as the tool itself", (workspace, input) => workspace.call(workspace.getTool("box/work")?.tool as Tool, input)],
  ["from another tool", async (workspace, input) => unwrap(await workspace.call("relay", { input }))],
  ["from a tool of another kind", async (workspace, input) => unwrap(await workspace.call("script", { input }))],
  [
    "from a listener",
    async (workspace, input) => {
      const call = Promise.withResolvers<unknown>();
      const end = workspace.onEvent(() => {
        end();
        call.resolve(workspace.call("box/work", input));
      });
      await workspace.call("nobody");
      return call.promise;
    },
  ],
])("there is one way to run a tool, with all checks: %s", async ([, call]) => {
  const asked: unknown[] = [];
  const work = defineTool({
    name: "work",
    description: "Works",
    input: { type: "object", properties: { n: { type: "integer" } }, required: ["n"] },
    output: { type: "array" },
    inject: { key: injected<string>() },
    run: ({ n }, { injected: { key } }) => (n === 0 ? "no list" : [n, key]) as never,
  });
  const relayInput = { type: "object", properties: { input: {} } } as const;
  const relay = defineTool({
    name: "relay",
    description: "Calls the other",
    input: relayInput,
    run: ({ input }, { call: callInside }) => callInside("box/work", input),
  });
  const script = createTool({
    name: "script",
    description: "Calls it too",
    input: relayInput,
    uses: ["box/work"],
    code: { kind: "script" },
  });
  const workspace = createWorkspace({
    tools: [relay, script],
    components: [{ name: "box", tools: [work] }],
    runtimes: [
      { kind: "script", run: (_, input, context) => context.call("box/work", (input as { input: unknown }).input) },
    ],
    injected: { key: "a-secret-key" },
    approve(request) {
      if (request.address === "box/work") asked.push(request.input);
      return JSON.stringify(request.input) === '{"n":13}'
        ? { decision: "deny", reason: "unlucky" }
        : { decision: "approve" };
    },
  });
  const recorded: unknown[] = [];
  workspace.onEvent((event) => event.type === "call-end" && event.tool === "box/work" && recorded.push(event.outcome));

  const outcomes: unknown[] = [];
  for (const n of ["7", "seven", 13, 0]) outcomes.push(await call(workspace, { n }));

  expect(outcomes).toMatchObject([
    { status: "ok", output: [7, "[key]"], coerced: [{ path: "n" }] },
    { status: "failed", error: { code: "input-invalid" } },
    { status: "failed", error: { code: "approval-denied", details: { reason: "unlucky" } } },
    { status: "failed", error: { code: "output-invalid" } },
  ]);
  expect(asked).toEqual([{ n: 7 }, { n: 13 }, { n: 0 }]);
  expect(recorded).toMatchObject(outcomes as object[]);
});

test("a deadline ends a call of a tool of any kind", async () => {
  const script = createTool({ name: "script", description: "Hangs", code: { kind: "script" } });
  const signals: AbortSignal[] = [];
  const workspace = createWorkspace({
    tools: [script],
    runtimes: [
      {
        kind: "script",
        run(_tool, _input, { signal }) {
          signals.push(signal);
          return new Promise(() => {});
        },
      },
    ],
  });

  const outcome = await workspace.call("script", {}, { limitMs: 10 });

  expect(outcome).toMatchObject({ status: "failed", error: { code: "call-timeout" } });
  expect(signals.map((signal) => signal.aborted)).toEqual([true]);
});

test("a tool sees the async context of its caller, also after it waited for a place", async () => {
  const storage = new AsyncLocalStorage<string>();
  const tool = defineTool({
    name: "who",
    description: "Tells who calls",
    limits: { maxConcurrent: 1 },
    async run() {
      await new Promise(setImmediate);
      return storage.getStore() ?? "nobody";
    },
  });
  const workspace = createWorkspace({
    tools: [tool],
    store: memoryStore(),
    approve: async () => ({ decision: "approve" }),
  });

  const outcomes = await Promise.all(
    ["ada", "bob", "eve"].map((name) => storage.run(name, () => workspace.call("who"))),
  );

  expect(outcomes).toEqual(["ada", "bob", "eve"].map((output) => ({ status: "ok", output })));
});

test("removing a tool lets its running calls finish, and no others begin", async () => {
  const started = Promise.withResolvers<void>();
  const goOn = Promise.withResolvers<string>();
  const { workspace } = setUp();
  workspace.add(
    defineTool({
      name: "held",
      description: "Waits",
      run() {
        started.resolve();
        return goOn.promise;
      },
    }),
  );

  const running = workspace.call("held");
  await started.promise;
  workspace.remove("held");
  const next = await workspace.call("held");
  goOn.resolve("finished");

  expect(await running).toEqual({ status: "ok", output: "finished" });
  expect(next).toMatchObject({ error: { code: "tool-not-found" } });
});

test("removing a tool ends its calls that still wait for a place", async () => {
  const started = Promise.withResolvers<void>();
  const goOn = Promise.withResolvers<string>();
  const { workspace } = setUp();
  const held = defineTool({
    name: "held",
    description: "Waits",
    limits: { maxConcurrent: 1 },
    run() {
      started.resolve();
      return goOn.promise;
    },
  });
  workspace.add(held);

  const running = workspace.call("held");
  const waiting = workspace.call("held");
  await started.promise;
  workspace.remove("held");
  goOn.resolve("finished");

  expect(await Promise.all([running, waiting])).toMatchObject([
    { status: "ok", output: "finished" },
    { status: "failed", error: { code: "tool-not-found" } },
  ]);
});

test("replacing a tool lets calls that have begun finish with the old one", async () => {
  const started = Promise.withResolvers<void>();
  const goOn = Promise.withResolvers<string>();
  const { workspace } = setUp();
  const make = (run: () => unknown): Tool => defineTool({ name: "held", description: "Waits", run });
  workspace.add(
    make(() => {
      started.resolve();
      return goOn.promise;
    }),
  );

  const running = workspace.call("held");
  await started.promise;
  workspace.replace(make(() => "new"));
  const next = await workspace.call("held");
  goOn.resolve("old");

  expect([await running, next]).toEqual([
    { status: "ok", output: "old" },
    { status: "ok", output: "new" },
  ]);
});

test("call() never throws, never rejects, and tells one beginning and one end of every call, inner ones inside", async () => {
  await fc.assert(
    fc.asyncProperty(scenario, async ({ tools, calls, hasStore, hasSecrets, approves }) => {
      const workspace = createWorkspace({
        tools: tools.map(toTool),
        limits: { maxCalls: 20, maxDepth: 4, maxConcurrent: 3, limitMs: 50, maxOutputBytes: 200, maxKeptBytes: 10_000 },
        ...(hasStore && { store: memoryStore() }),
        ...(hasSecrets && { secrets: { S: "secret", T: "tool" } }),
        ...(approves !== "nobody" && { approve: () => approvals[approves] as never }),
        injected: { key: "injected-text" },
      });
      const events: CallEvent[] = [];
      workspace.onEvent((event) => events.push(event));

      const settled = await Promise.allSettled(calls.map(({ name, input }) => workspace.call(name as string, input)));

      expect(settled.filter(({ status }) => status === "rejected")).toEqual([]);
      const outcomes = settled.map((result) => (result.status === "fulfilled" ? result.value : undefined));
      expect(outcomes.every((outcome) => outcome?.status === "ok" || outcome?.status === "failed")).toBe(true);
      expect(findBrokenEvents(events, outcomes as ToolOutcome[])).toEqual([]);
      expect(() => JSON.stringify([outcomes, events])).not.toThrow();
    }),
    { numRuns: 300 },
  );
});

const approvals = {
  yes: { decision: "approve" },
  no: { decision: "deny", reason: "no" },
  nonsense: 3,
  other: { decision: "approve", input: { value: 1 } },
};

const names = ["tool-0", "tool-1", "tool-2"];

const behaviours: Record<string, (input: { readonly value?: unknown }, context: ToolContext) => unknown> = {
  echo: ({ value }) => value,
  later: async ({ value }) => {
    await new Promise(setImmediate);
    return value;
  },
  throws: ({ value }) => {
    throw value;
  },
  rejects: async ({ value }) => {
    throw value;
  },
  nothing: () => undefined,
  wrong: () => ({ value: 1n, self: () => 1 }),
  cycle: () => {
    const list: unknown[] = [];
    list.push(list);
    return list;
  },
  large: () => "€".repeat(1000),
  leaks: (_, { injected }) => injected,
  *chunks({ value }) {
    yield progress({ done: 1 });
    yield value as never;
    yield "text";
  },
  async *endless() {
    for (;;) yield "x".repeat(1000);
  },
  one: ({ value }, { call }) => call(names[0] as string, { value }),
  many: ({ value }, { call }) => Promise.all(names.map((name) => call(name, { value }))),
  leaves: ({ value }, { call }) => {
    void call(names[1] as string, { value });
    return value;
  },
  twice: async ({ value }, { call }) => [await call("nobody", value), await call(names[2] as string, value)],
  aborts: (_, { signal }) => signal.throwIfAborted(),
};

interface ToolPlan {
  readonly behaviour: string;
  readonly inject: boolean;
  readonly needsApproval: boolean;
  readonly maxConcurrent: number;
}

const scenario = fc.record({
  tools: fc.array(
    fc.record({
      behaviour: fc.constantFrom(...Object.keys(behaviours)),
      inject: fc.boolean(),
      needsApproval: fc.boolean(),
      maxConcurrent: fc.constantFrom(1, 2, 100),
    }),
    { minLength: 3, maxLength: 3 },
  ),
  calls: fc.array(
    fc.record({
      name: fc.oneof({ weight: 8, arbitrary: fc.constantFrom<unknown>(...names) }, fc.anything()),
      input: fc.oneof(
        { weight: 4, arbitrary: fc.record({ value: fc.jsonValue() }) },
        {
          weight: 1,
          arbitrary: fc.record({ value: fc.anything({ withBigInt: true, withDate: true, withMap: true }) }),
        },
        { weight: 1, arbitrary: fc.anything() },
      ),
    }),
    { minLength: 1, maxLength: 4 },
  ),
  hasStore: fc.boolean(),
  hasSecrets: fc.boolean(),
  approves: fc.constantFrom("nobody", "yes", "yes", "no", "nonsense", "other"),
});

function toTool({ behaviour, inject, needsApproval, maxConcurrent }: ToolPlan, index: number): Tool {
  return defineTool({
    name: names[index] as string,
    description: "Does something",
    input: { type: "object", properties: { value: {} } },
    ...(inject && { inject: { key: {} } }),
    needsApproval,
    limits: { maxConcurrent },
    run: behaviours[behaviour] as never,
  });
}

/** What is wrong with the events of calls that have ended. */
function findBrokenEvents(events: readonly CallEvent[], outcomes: readonly ToolOutcome[]): string[] {
  const broken: string[] = [];
  const expect = (right: boolean, what: string): void => void (right || broken.push(what));
  const open = new Map<string, string | undefined>();
  const ended = new Map<string, unknown>();
  for (const event of events) {
    const { type, call } = event;
    if (type === "call-start") {
      expect(!open.has(call) && !ended.has(call), `${call} begins twice`);
      expect(event.parent === undefined || open.has(event.parent), `${call} begins outside its parent`);
      open.set(call, event.parent);
    } else if (type !== "result-dropped") expect(open.has(call), `${type} outside ${call}`);
    if (type === "call-end") {
      open.delete(call);
      ended.set(call, event.outcome);
      expect(![...open.values()].includes(call), `${call} ends before a call inside it`);
    }
  }
  expect(open.size === 0, `${open.size} calls never end`);
  const told = new Set(ended.values());
  expect(
    outcomes.every((outcome) => told.has(outcome)),
    "an outcome was not told",
  );
  return broken;
}

/** The outcome of a call inside a call that hands it on as its output. */
function unwrap(outcome: ToolOutcome): unknown {
  return outcome.status === "ok" ? outcome.output : outcome;
}

function setUp(): { workspace: ReturnType<typeof createWorkspace>; events: CallEvent[]; ran: () => number } {
  let ran = 0;
  const workspace = createWorkspace({
    tools: [
      defineTool({ name: "count", description: "Counts", run: () => (ran += 1) }),
      defineTool({ name: "slow", description: "Waits", run: () => new Promise((resolve) => setTimeout(resolve, 5)) }),
    ],
  });
  const events: CallEvent[] = [];
  workspace.onEvent((event) => events.push(event));
  return { workspace, events, ran: () => ran };
}
