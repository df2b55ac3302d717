import { expect, test } from "vitest";

import { defineTool } from "../../core/define-tool.ts";
import { toFailure } from "../../core/errors.ts";
import type { CallEvent } from "../../core/events.ts";
import type { ToolOutcome } from "../../core/outcome.ts";
import { createWorkspace } from "../create-workspace.ts";
import type { Middleware, OpenPhaseName, PublicCall } from "./middleware.ts";

test("use() puts middlewares around the phases, in order", async () => {
  const { workspace, note, order } = setUp();
  const phases: OpenPhaseName[] = ["run", "check-output", "admit", "authorise", "check-input", "resolve"];
  for (const before of phases) workspace.use(note(before), { before });
  workspace.use(note("second"));
  workspace.use(note("second run"), { before: "run" });

  await workspace.call("echo", { text: "hi" });

  const inwards = ["resolve", "second", "check-input", "authorise", "admit", "check-output", "run", "second run"];
  expect(order).toEqual([
    ...inwards.map((name) => `> ${name}`),
    "ran",
    ...inwards.toReversed().map((name) => `< ${name}`),
  ]);
});

test("use() shows a middleware what the call is, before and after its input is checked", async () => {
  const { workspace } = setUp();
  const seen: unknown[] = [];
  const look: Middleware = (call, next) => {
    const { id, address, tool, input, parentId, depth, user, signal } = call;
    seen.push({ id, address, name: tool?.name, input, parentId, depth, user, aborted: signal.aborted });
    return next();
  };
  workspace.use(look);
  workspace.use(look, { before: "run" });

  await workspace.call("echo", { text: 3 }, { user: "ada" });
  await workspace.call("nobody", undefined);
  await workspace.call("echo", { text: 3n });

  const call = { id: expect.any(String), address: "echo", name: "echo", depth: 0, aborted: false };
  expect(seen).toEqual([
    { ...call, input: { text: 3 }, user: "ada" },
    { ...call, input: { text: "3" }, user: "ada" },
    { ...call, address: "nobody", name: undefined, input: {} },
    { ...call, input: undefined },
  ]);
});

test("use() sees calls inside calls, with their parent", async () => {
  const { workspace } = setUp();
  workspace.add(defineTool({ name: "outer", description: "Calls", run: (_, { call }) => call("echo", { text: "x" }) }));
  const seen: PublicCall[] = [];
  workspace.use((call, next) => {
    seen.push(call);
    return next();
  });

  await workspace.call("outer");

  expect(seen.map(({ address, depth }) => [address, depth])).toEqual([
    ["outer", 0],
    ["echo", 1],
  ]);
  expect(seen[1]?.parentId).toBe(seen[0]?.id);
});

test("use() answers with the function that takes the middleware out, also while a call runs", async () => {
  const { workspace, note, order } = setUp();
  const end = workspace.use(note("first"));
  workspace.use((call, next) => {
    end();
    end();
    return next();
  });
  workspace.use(note("third"));

  await workspace.call("echo", { text: "hi" });
  await workspace.call("echo", { text: "hi" });

  expect(order).toEqual(["> first", "> third", "ran", "< third", "< first", "> third", "ran", "< third"]);
});

test("a middleware may answer itself, and then nothing behind it happens", async () => {
  const { workspace, order } = setUp();
  const signals: AbortSignal[] = [];
  workspace.use(
    ({ signal }) => {
      signals.push(signal);
      return { status: "ok", output: "from the cache" };
    },
    { before: "admit" },
  );

  const outcome = await workspace.call("echo", { text: "hi" });

  expect(outcome).toEqual({ status: "ok", output: "from the cache" });
  expect(order).toEqual([]);
  expect(signals.map((signal) => signal.aborted)).toEqual([false]);
});

test("a middleware may answer with a failure", async () => {
  const { workspace } = setUp();
  const error = toFailure("tool-failed", { tool: "echo", reason: "not today" });
  workspace.use(() => ({ status: "failed", error }));

  expect(await workspace.call("echo", { text: "hi" })).toEqual({ status: "failed", error });
});

test("a middleware may make a success of a failure, and the other way round", async () => {
  const { workspace } = setUp();
  workspace.use(async (call, next) => {
    const outcome = await next();
    if (outcome.status === "failed") return { status: "ok", output: outcome.error.code };
    return { status: "failed", error: toFailure("tool-failed", { tool: call.address, reason: "too good" }) };
  });

  const outcomes = [await workspace.call("echo", { text: "hi" }), await workspace.call("nobody")];

  expect(outcomes).toMatchObject([{ error: { details: { reason: "too good" } } }, { output: "tool-not-found" }]);
});

test("a middleware may change the output and keep the rest", async () => {
  const { workspace } = setUp();
  workspace.use(async (_, next) => {
    const outcome = await next();
    return outcome.status === "ok" ? { ...outcome, output: [outcome.output] } : outcome;
  });

  const outcome = await workspace.call("echo", { text: 3 });

  expect(outcome).toEqual({ status: "ok", output: ["3"], coerced: [{ path: "text", from: "3", to: '"3"' }] });
});

test("what a middleware answers is redacted, capped and recorded", async () => {
  const { workspace, events } = setUp({ secrets: { KEY: "very-secret" }, limits: { maxOutputBytes: 1000 } });
  const output = `${"x".repeat(2000)} very-secret`;
  workspace.use(() => ({ status: "ok", output }));

  const outcome = await workspace.call("echo", { text: "hi" });
  const page = await workspace.readOutput(outcome.status === "ok" ? (outcome.capped?.handle ?? "") : "");

  expect(page.text).toBe(`${"x".repeat(2000)} [KEY]`);
  expect(events.at(-1)).toMatchObject({ type: "call-end", outcome });
});

test("setInput() puts another input in the place of the caller's, which is checked and told", async () => {
  const { workspace, events } = setUp();
  workspace.use((call, next) => {
    call.setInput({ text: 7 });
    return next();
  });

  const outcome = await workspace.call("echo", { text: "hi" });

  expect(outcome).toMatchObject({ status: "ok", output: "7" });
  expect(events.map(({ type }) => type)).toEqual(["call-start", "input-replaced", "input-coerced", "call-end"]);
  expect(events[1]).toMatchObject({ input: { text: 7 } });
});

test.for([undefined, null, { wrong: true }, "text", 3n, { text: () => 1 }])(
  "setInput() does not get %o past the check",
  async (input) => {
    const { workspace, order, events } = setUp();
    workspace.use((call, next) => {
      call.setInput(input);
      return next();
    });

    const outcome = await workspace.call("echo", { text: "hi" });

    expect(outcome).toMatchObject({ status: "failed", error: { code: "input-invalid" } });
    expect(order).toEqual([]);
    expect(events[1]?.type).toBe("input-replaced");
  },
);

test.for<OpenPhaseName>(["authorise", "admit", "check-output", "run"])(
  "setInput() is refused before %s: the input was checked already",
  async (before) => {
    const { workspace, order } = setUp();
    workspace.use(
      (call, next) => {
        call.setInput({ text: "other" });
        return next();
      },
      { before },
    );

    const outcome = await workspace.call("echo", { text: "hi" });

    expect(outcome).toMatchObject({
      error: {
        code: "middleware-failed",
        details: { tool: "echo", reason: 'the input was already checked; put the middleware before "check-input"' },
      },
    });
    expect(order).toEqual([]);
  },
);

test("setInput() is refused when the call is over", async () => {
  const { workspace, events } = setUp();
  let kept: PublicCall | undefined;
  workspace.use((call, next) => {
    kept = call;
    return next();
  });
  await workspace.call("nobody");

  expect(() => kept?.setInput({})).toThrow("already checked");
  expect(events.map(({ type }) => type)).toEqual(["call-start", "call-end"]);
});

test.for<[string, Middleware, string]>([
  ["throws", () => thrower("broken"), "broken"],
  ["rejects", () => Promise.reject(new Error("broken")), "broken"],
  [
    "rejects with what cannot be shown",
    () => Promise.reject(Object.create(null) as Error),
    "something that cannot be shown",
  ],
  ["answers nothing", answer(undefined), "it answered nothing, not an outcome"],
  ["answers null", answer(null), "it answered null, not an outcome"],
  ["answers a text", answer("ok"), 'it answered "ok", not an outcome'],
  ["answers another status", answer({ status: "done", output: 1 }), "it answered an object, not an outcome"],
  ["answers no output", answer({ status: "ok" }), "it answered an object, not an outcome"],
  ["answers no error", answer({ status: "failed" }), "it answered an object, not an outcome"],
  [
    "answers an error of its own",
    answer({ status: "failed", error: { code: "my-code", message: "x", details: {} } }),
    "it answered an object, not an outcome",
  ],
  [
    "answers an error without a code",
    answer({ status: "failed", error: { message: "x", details: {} } }),
    "it answered an object, not an outcome",
  ],
  [
    "answers an error without a message",
    answer({ status: "failed", error: { code: "tool-failed" } }),
    "it answered an object, not an outcome",
  ],
  [
    "answers an error whose facts are no JSON",
    answer({ status: "failed", error: { code: "tool-failed", message: "x", details: { a: 1n } } }),
    "it answered an object, not an outcome",
  ],
  [
    "answers an output that is no JSON",
    answer({ status: "ok", output: { a: [1n] } }),
    'it answered an output with the BigInt "1" at a[0]',
  ],
  [
    "answers a function",
    answer({ status: "ok", output: () => 1 }),
    "it answered an output with a function at its root",
  ],
  [
    "answers too much",
    answer({ status: "ok", output: "x".repeat(70_000_000) }),
    "it answered an output with more than is kept",
  ],
  [
    "answers an object that throws",
    answer({
      get status() {
        return thrower("do not look");
      },
    }),
    "do not look",
  ],
])("a middleware that %s makes the call fail", async ([, middleware, reason]) => {
  const { workspace, events } = setUp();
  workspace.use(middleware);

  const outcome = await workspace.call("echo", { text: "hi" });

  expect(outcome).toMatchObject({
    status: "failed",
    error: { code: "middleware-failed", details: { tool: "echo", reason } },
  });
  expect(events.at(-1)).toMatchObject({ type: "call-end", outcome });
});

test("a middleware runs what is behind it once", async () => {
  const { workspace, order } = setUp();
  workspace.use(async (_, next) => {
    await next();
    return next();
  });

  const outcome = await workspace.call("echo", { text: "hi" });

  expect(outcome).toMatchObject({
    error: { code: "middleware-failed", details: { reason: "it called next more than once" } },
  });
  expect(order).toEqual(["ran"]);
});

test("a middleware that forgets a second next() takes nothing down", async () => {
  const { workspace, order } = setUp();
  workspace.use((_, next) => {
    const first = next();
    void next();
    return first;
  });

  const outcome = await workspace.call("echo", { text: "hi" });
  await new Promise(setImmediate);

  expect(outcome).toEqual({ status: "ok", output: "hi" });
  expect(order).toEqual(["ran"]);
});

test("a middleware cannot run what is behind it after it has answered", async () => {
  const { workspace, order } = setUp();
  let late: (() => Promise<ToolOutcome>) | undefined;
  workspace.use((_, next) => {
    late = next;
    return { status: "ok", output: "answered" };
  });
  await workspace.call("echo", { text: "hi" });

  const refused = await late?.().catch((cause: unknown) => cause);

  expect(refused).toEqual(new Error("it called next after it had answered"));
  expect(order).toEqual([]);
});

test("a middleware that answers first cancels what is behind it", async () => {
  const { workspace, events } = setUp();
  const running = Promise.withResolvers<AbortSignal>();
  workspace.add(
    defineTool({
      name: "slow",
      description: "Never ends",
      run(_, { signal }) {
        running.resolve(signal);
        return new Promise(() => {});
      },
    }),
  );
  workspace.use(async (_, next) => {
    const answered: Promise<ToolOutcome> = running.promise.then(() => ({ status: "ok", output: "good enough" }));
    return Promise.race([next(), answered]);
  });

  const outcome = await workspace.call("slow");

  expect(outcome).toEqual({ status: "ok", output: "good enough" });
  expect((await running.promise).reason).toMatchObject({ code: "call-cancelled" });
  expect(events.map(({ type }) => type)).toEqual(["call-start", "call-end"]);
});

test("a call does not end before everything behind a middleware has, also if that answered first", async () => {
  const { workspace, order } = setUp();
  const started = Promise.withResolvers<void>();
  workspace.use(async (_, next) => {
    void next();
    await started.promise;
    return { status: "ok", output: "good enough" };
  });
  workspace.use(
    async (_, next) => {
      started.resolve();
      const outcome = await next();
      await new Promise(setImmediate);
      order.push("the inner one is over");
      return outcome;
    },
    { before: "run" },
  );

  await workspace.call("echo", { text: "hi" });

  expect(order.at(-1)).toBe("the inner one is over");
});

test("a middleware hears of a failure of Kitbag itself as an outcome", async () => {
  const { workspace } = setUp();
  const broken = defineTool({ name: "broken", description: "Breaks", run: () => 1 });
  workspace.add(
    new Proxy(broken, {
      get(target, key, receiver) {
        if (key === "needsApproval") throw new Error("broken");
        return Reflect.get(target, key, receiver) as unknown;
      },
    }),
  );
  const seen: ToolOutcome[] = [];
  workspace.use(async (_, next) => {
    const outcome = await next();
    seen.push(outcome);
    return outcome;
  });

  const outcome = await workspace.call("broken");

  expect(outcome).toMatchObject({ error: { code: "call-crashed", details: { reason: "broken" } } });
  expect(seen).toEqual([outcome]);
});

function setUp(options: Parameters<typeof createWorkspace>[0] = {}): {
  workspace: ReturnType<typeof createWorkspace>;
  /** Makes a middleware that notes when it is reached and left. */
  note: (name: string) => Middleware;
  order: string[];
  events: CallEvent[];
} {
  const order: string[] = [];
  const echo = defineTool({
    name: "echo",
    description: "Says it again",
    input: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
    run({ text }) {
      order.push("ran");
      return text;
    },
  });
  const workspace = createWorkspace({ tools: [echo], ...options });
  const events: CallEvent[] = [];
  workspace.onEvent((event) => events.push(event));
  const note =
    (name: string): Middleware =>
    async (_, next) => {
      order.push(`> ${name}`);
      const outcome = await next();
      order.push(`< ${name}`);
      return outcome;
    };
  return { workspace, note, order, events };
}

function answer(value: unknown): Middleware {
  return () => value as ToolOutcome;
}

function thrower(message: string): never {
  throw new Error(message);
}
