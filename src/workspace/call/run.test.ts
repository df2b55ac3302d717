import { getEventListeners } from "node:events";
import { expect, test } from "vitest";

import { defineTool } from "../../core/define-tool.ts";
import { KitbagError } from "../../core/errors.ts";
import type { CallEvent } from "../../core/events.ts";
import type { Runtime } from "../../core/runtime.ts";
import type { ToolContext, Tool } from "../../core/tool.ts";
import { createWorkspace } from "../create-workspace.ts";

test("call() runs plain and async functions, and anything that can be awaited", async () => {
  const query = { then: (resolve: (value: string) => void) => resolve("rows") };
  const workspace = createWorkspace({
    tools: [tool("plain", () => 1), tool("async", async () => 2), tool("thenable", () => query)],
  });

  const outcomes = await Promise.all(["plain", "async", "thenable"].map((name) => workspace.call(name)));

  expect(outcomes).toEqual([1, 2, "rows"].map((output) => ({ status: "ok", output })));
});

test("call() gives an output that only has something called then", async () => {
  const workspace = createWorkspace({ tools: [tool("plan", () => ({ first: "this", then: "that" }))] });

  expect(await workspace.call("plan")).toEqual({ status: "ok", output: { first: "this", then: "that" } });
});

test("call() fails at its limit although the tool hangs, tells the tool, and drops what comes later", async () => {
  const result = Promise.withResolvers<string>();
  const dropped = Promise.withResolvers<CallEvent>();
  let signal: AbortSignal | undefined;
  const workspace = createWorkspace({
    tools: [
      tool("hang", (_, context) => {
        ({ signal } = context);
        return result.promise;
      }),
    ],
  });
  const events: string[] = [];
  workspace.onEvent((event) => {
    events.push(event.type);
    if (event.type === "result-dropped") dropped.resolve(event);
  });

  const before = performance.now();
  const outcome = await workspace.call("hang", {}, { limitMs: 30 });
  const tookMs = performance.now() - before;
  const wasAborted = signal?.aborted;
  result.resolve("too late");

  expect(outcome).toMatchObject({
    status: "failed",
    error: { code: "call-timeout", details: { tool: "hang", limitMs: 30 } },
  });
  expect(tookMs).toBeGreaterThanOrEqual(30);
  expect(wasAborted).toBe(true);
  expect(signal?.reason).toMatchObject({ code: "call-timeout" });
  expect(await dropped.promise).toMatchObject({ type: "result-dropped", tool: "hang", afterMs: expect.any(Number) });
  expect(events).toEqual(["call-start", "call-end", "result-dropped"]);
});

test("call() does not take it for a dropped result when a tool obeys and fails", async () => {
  const workspace = createWorkspace({ tools: [tool("obey", (_, { signal }) => untilAborted(signal))] });
  const events: string[] = [];
  workspace.onEvent((event) => events.push(event.type));

  const outcome = await workspace.call("obey", {}, { limitMs: 5 });
  await new Promise(setImmediate);

  expect(outcome).toMatchObject({ error: { code: "call-timeout" } });
  expect(events).toEqual(["call-start", "call-end"]);
});

test("call() fails for a tool that blocked the process past its limit", async () => {
  const workspace = createWorkspace({
    tools: [
      tool("block", () => {
        const end = performance.now() + 20;
        while (performance.now() < end);
        return "done";
      }),
    ],
  });

  const outcome = await workspace.call("block", {}, { limitMs: 10 });

  expect(outcome).toMatchObject({ status: "failed", error: { code: "call-timeout" } });
});

test("call() takes the limit of the call before that of the tool before that of the workspace", async () => {
  const workspace = createWorkspace({
    limits: { limitMs: 20 },
    tools: [
      tool("own", () => new Promise(() => {}), { limits: { limitMs: 10 } }),
      tool("none", () => new Promise(() => {})),
    ],
  });

  const outcomes = await Promise.all([
    workspace.call("own", {}, { limitMs: 5 }),
    workspace.call("own"),
    workspace.call("none"),
  ]);

  expect(outcomes).toMatchObject([5, 10, 20].map((limitMs) => ({ error: { details: { limitMs } } })));
});

test("call() leaves no timer behind, however it ends", async () => {
  const workspace = createWorkspace({
    tools: [
      tool("soon", () => new Promise(setImmediate)),
      tool("fails", () => Promise.reject(new Error("x"))),
      tool("outer", (_, { call }) => Promise.all([call("soon"), call("fails"), call("nobody")])),
      tool("hang", () => new Promise(() => {})),
    ],
  });
  const countTimers = (): number => process.getActiveResourcesInfo().filter((kind) => kind === "Timeout").length;
  const before = countTimers();

  const names = ["soon", "fails", "outer", "hang"].flatMap((name) => Array.from({ length: 10 }, () => name));
  await Promise.all(names.map((name) => workspace.call(name, {}, { limitMs: name === "hang" ? 1 : 10_000 })));

  // Those of other tests may end in the meantime, but they are fewer than these calls.
  expect(countTimers()).toBeLessThanOrEqual(before);
});

test("call() has no limit if the limit is infinite or longer than a timer can wait", async () => {
  const workspace = createWorkspace({
    tools: [tool("soon", () => new Promise((resolve) => setTimeout(resolve, 5, "done")))],
  });

  const outcomes = await Promise.all(
    [Number.POSITIVE_INFINITY, 2 ** 40].map((limitMs) => workspace.call("soon", {}, { limitMs })),
  );

  expect(outcomes).toEqual(outcomes.map(() => ({ status: "ok", output: "done" })));
});

test("call() ends when its caller cancels, and leaves no listener on the signal", async () => {
  const started = Promise.withResolvers<AbortSignal>();
  const workspace = createWorkspace({
    tools: [
      tool("hang", (_, { signal }) => {
        started.resolve(signal);
        return new Promise(() => {});
      }),
      tool("quick", () => 1),
    ],
  });
  const controller = new AbortController();

  const quick = await workspace.call("quick", {}, { signal: controller.signal });
  const afterQuick = getEventListeners(controller.signal, "abort").length;
  const call = workspace.call("hang", {}, { signal: controller.signal });
  const inner = await started.promise;
  controller.abort();

  expect(quick).toEqual({ status: "ok", output: 1 });
  expect(await call).toMatchObject({
    status: "failed",
    error: { code: "call-cancelled", details: { tool: "hang", reason: "by the caller" } },
  });
  expect(inner.aborted).toBe(true);
  expect([afterQuick, getEventListeners(controller.signal, "abort").length]).toEqual([0, 0]);
});

test("call() runs nothing if its signal is aborted already", async () => {
  let asked = 0;
  const workspace = createWorkspace({
    tools: [tool("count", () => (asked += 1))],
    approve: () => {
      asked += 1;
      return { decision: "approve" };
    },
  });
  const events: string[] = [];
  workspace.onEvent((event) => events.push(event.type));

  const outcome = await workspace.call("count", {}, { signal: AbortSignal.abort() });

  expect(outcome).toMatchObject({ status: "failed", error: { code: "call-cancelled" } });
  expect(asked).toBe(0);
  expect(events).toEqual(["call-start", "call-end"]);
});

test.for<[string, () => unknown, string]>([
  ["an error", () => new Error("broken"), "broken"],
  ["an error without a message", () => new RangeError(), "RangeError"],
  ["a text", () => "just text", "just text"],
  ["undefined", () => undefined, "undefined"],
  ["null", () => null, "null"],
  ["an object that cannot be shown", () => ({ toString: () => thrower() }), "something that cannot be shown"],
  ["an error whose message is no text", () => Object.assign(new Error("x"), { message: { a: 1 } }), "[object Object]"],
  [
    "something that pretends to be ours",
    () => ({ [Symbol.for("kitbag.error")]: true, code: "no-such-code" }),
    "[object Object]",
  ],
  ["one of ours with the wrong facts", () => new FakeError("call-cycle", {}), "fake"],
  ["one of ours with facts that are no JSON", () => new FakeError("tool-failed", { tool: () => 1 }), "fake"],
])("call() fails for a tool that throws %s", async ([, make, reason]) => {
  const workspace = createWorkspace({
    tools: [
      tool("throws", () => {
        throw make();
      }),
      tool("rejects", async () => {
        throw make();
      }),
    ],
  });

  const outcomes = await Promise.all([workspace.call("throws"), workspace.call("rejects")]);

  expect(outcomes).toMatchObject(
    ["throws", "rejects"].map((name) => ({
      status: "failed",
      error: { code: "tool-failed", details: { tool: name, reason } },
    })),
  );
});

test("call() shortens what a tool says when it throws a huge message", async () => {
  const workspace = createWorkspace({
    tools: [tool("throws", () => Promise.reject(new Error("x".repeat(50_000_000))))],
  });

  const outcome = await workspace.call("throws");

  expect(JSON.stringify(outcome).length).toBeLessThan(10_000);
});

test("call() says that the process has too many files open, when a tool could open no other", async () => {
  const error = Object.assign(new Error("spawn mkfifo EMFILE"), { code: "EMFILE" });
  const workspace = createWorkspace({ tools: [tool("throws", () => Promise.reject(error))] });

  const outcome = await workspace.call("throws");

  expect(outcome).toMatchObject({ status: "failed", error: { code: "descriptors-exhausted" } });
  expect(JSON.stringify(outcome)).toContain("ulimit -n");
});

test("call() passes on an error of ours that a tool throws", async () => {
  const error = new KitbagError("step-failed", { tool: "a", step: "b", code: "tool-failed", reason: "c" });
  const workspace = createWorkspace({ tools: [tool("throws", () => Promise.reject(error))] });

  const outcome = await workspace.call("throws");

  expect(outcome).toEqual({ status: "failed", error: error.toJSON() });
});

test("call() ends with the reason to stop, not with the error that stopping makes", async () => {
  const workspace = createWorkspace({
    tools: [
      tool("outer", (_, { signal, call }) => {
        const waiting = untilAborted(signal);
        void call("outer");
        return waiting;
      }),
    ],
  });
  const controller = new AbortController();

  const call = workspace.call("outer", {}, { signal: controller.signal });
  setImmediate(() => controller.abort());

  expect(await call).toMatchObject({ error: { code: "call-cancelled", details: { reason: "by the caller" } } });
});

test("call() tells what the runtime knows of a tool whose time is over, of the last time that it was tried", async () => {
  let tries = 0;
  const runtime: Runtime = {
    kind: "slow",
    run(_, __, context) {
      tries += 1;
      if (tries === 1) {
        context.onTimeout(() => ({ stdout: "first" }));
        throw new Error("once");
      }
      if (tries === 3) context.onTimeout(() => ({ stdout: "third", calls: [] }));
      return new Promise(() => {});
    },
  };
  const slow: Tool = { ...tool("slow", () => 1), code: { kind: "slow" }, annotations: { idempotent: true } };
  const workspace = createWorkspace({ tools: [slow], runtimes: [runtime], retries: { times: 1, minMs: 1, maxMs: 2 } });

  const second = await workspace.call("slow", {}, { limitMs: 30 });
  const third = await workspace.call("slow", {}, { limitMs: 30 });

  expect(second).toMatchObject({ error: { code: "call-timeout", details: { limitMs: 30 } } });
  expect(second).not.toHaveProperty("error.details.untilThen");
  expect(third).toMatchObject({
    error: {
      message: 'Cannot finish "slow": it was still running after 30 ms\n→ it had printed: third',
      details: { untilThen: { stdout: "third" } },
    },
  });
});

test("call() ends with the first reason to stop", async () => {
  const controller = new AbortController();
  const workspace = createWorkspace({
    tools: [
      tool("hang", (_, { signal }) => {
        signal.addEventListener("abort", () => controller.abort());
        return new Promise(() => {});
      }),
    ],
  });

  const outcome = await workspace.call("hang", {}, { signal: controller.signal, limitMs: 5 });

  expect(outcome).toMatchObject({ status: "failed", error: { code: "call-timeout" } });
});

test("call() fails for a plain function that is cancelled while it runs", async () => {
  const controller = new AbortController();
  const workspace = createWorkspace({
    tools: [
      tool("cancels", () => {
        controller.abort();
        return "an output nobody wants";
      }),
      tool("fails", () => {
        controller.abort();
        throw new Error("after that");
      }),
    ],
  });

  const outcomes = await Promise.all(
    ["cancels", "fails"].map((name) => workspace.call(name, {}, { signal: controller.signal })),
  );

  expect(outcomes).toMatchObject(outcomes.map(() => ({ status: "failed", error: { code: "call-cancelled" } })));
});

test("call() says which runtimes there are if the tool needs another", async () => {
  const workspace = createWorkspace();
  workspace.add({ ...tool("x", () => 1), code: { kind: "cobol" } });

  const outcome = await workspace.call("x");

  expect(outcome).toMatchObject({
    error: {
      code: "runtime-missing",
      details: { tool: "x", kind: "cobol", known: expect.arrayContaining(["function"]) },
    },
  });
});

test("a call that is cancelled cancels the calls inside it, at every level", async () => {
  const deepest = Promise.withResolvers<AbortSignal>();
  const workspace = createWorkspace({
    tools: [
      tool("a", (_, { call }) => call("b")),
      tool("b", (_, { call }) => call("c")),
      tool("c", (_, { signal }) => {
        deepest.resolve(signal);
        return new Promise(() => {});
      }),
    ],
  });
  const ends = collectEnds(workspace);
  const controller = new AbortController();

  const call = workspace.call("a", {}, { signal: controller.signal });
  const signal = await deepest.promise;
  controller.abort();
  await call;

  expect(signal.aborted).toBe(true);
  expect(ends).toEqual(["c call-cancelled", "b call-cancelled", "a call-cancelled"]);
});

test("a call that is cancelled before its tool makes a call inside it runs nothing more", async () => {
  const controller = new AbortController();
  const inner = Promise.withResolvers<unknown>();
  let ran = 0;
  const workspace = createWorkspace({
    tools: [
      tool("outer", async (_, { call }) => {
        controller.abort();
        inner.resolve(await call("inner"));
      }),
      tool("inner", () => (ran += 1)),
    ],
  });
  const ends = collectEnds(workspace);

  const outcome = await workspace.call("outer", {}, { signal: controller.signal });

  expect(outcome).toMatchObject({ status: "failed", error: { code: "call-cancelled" } });
  expect(await inner.promise).toMatchObject({ status: "failed", error: { code: "call-cancelled" } });
  expect(ran).toBe(0);
  expect(ends).toEqual(["inner call-cancelled", "outer call-cancelled"]);
});

test("a call that times out cancels the calls inside it", async () => {
  const workspace = createWorkspace({
    tools: [tool("outer", (_, { call }) => call("inner")), tool("inner", () => new Promise(() => {}))],
  });
  const ends = collectEnds(workspace);

  await workspace.call("outer", {}, { limitMs: 10 });

  expect(ends).toEqual(["inner call-cancelled", "outer call-timeout"]);
});

test("a call inside a call that is left running when the outer one returns is cancelled, and ends before it", async () => {
  const inner = Promise.withResolvers<ToolContext>();
  let left: unknown;
  const workspace = createWorkspace({
    tools: [
      tool("outer", async (_, { call }) => {
        left = call("inner");
        await inner.promise;
        return "done";
      }),
      tool("inner", (_, context) => {
        inner.resolve(context);
        return new Promise(() => {});
      }),
    ],
  });
  const ends = collectEnds(workspace);

  const outcome = await workspace.call("outer");

  expect(outcome).toEqual({ status: "ok", output: "done" });
  expect(await left).toMatchObject({
    error: { code: "call-cancelled", details: { tool: "inner", reason: "the call that made it is over" } },
  });
  expect((await inner.promise).signal.aborted).toBe(true);
  expect(ends).toEqual(["inner call-cancelled", "outer ok"]);
});

test("a tool cannot do anything in its call once that is over", async () => {
  let context: ToolContext | undefined;
  let ran = 0;
  const workspace = createWorkspace({
    tools: [
      tool("outer", (_, given) => {
        context = given;
        return "done";
      }),
      tool("inner", () => (ran += 1)),
    ],
  });
  const events: string[] = [];
  await workspace.call("outer");
  workspace.onEvent((event) => events.push(event.type));

  const late = await Promise.all([context?.call("inner"), context?.call({} as never, {})]);
  context?.progress("still here");

  expect(late).toMatchObject(late.map(() => ({ status: "failed", error: { code: "call-cancelled" } })));
  expect(ran).toBe(0);
  expect(events).toEqual([]);
});

test("a tool that goes on calling after its call is over does not keep the process from anything", async () => {
  const state = { isOver: false };
  const workspace = createWorkspace({
    tools: [
      tool("runaway", async (_, { call }) => {
        while (!state.isOver) await call("nothing");
      }),
    ],
  });

  const outcome = await workspace.call("runaway", {}, { limitMs: 20 });
  await new Promise((resolve) => setTimeout(resolve, 20));
  state.isOver = true;

  expect(outcome).toMatchObject({ status: "failed" });
});

function tool(
  name: string,
  run: (input: unknown, context: ToolContext) => unknown,
  more: { readonly limits?: Tool["limits"] } = {},
): Tool {
  return defineTool({ name, description: "Does something", ...more, run });
}

function collectEnds(workspace: ReturnType<typeof createWorkspace>): string[] {
  const ends: string[] = [];
  workspace.onEvent((event) => {
    if (event.type !== "call-end") return;
    ends.push(`${event.tool} ${event.outcome.status === "ok" ? "ok" : event.outcome.error.code}`);
  });
  return ends;
}

function untilAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason as Error));
  });
}

function thrower(): never {
  throw new Error("do not look");
}

class FakeError extends Error {
  readonly code: string;
  readonly details: object;

  constructor(code: string, details: object) {
    super("fake");
    this.code = code;
    this.details = details;
    Object.assign(this, { [Symbol.for("kitbag.error")]: true });
  }
}
