import { expect, test } from "vitest";

import { defineTool } from "../../core/define-tool.ts";
import { KitbagError } from "../../core/errors.ts";
import type { CallEvent } from "../../core/events.ts";
import type { Store } from "../../core/store.ts";
import type { Tool } from "../../core/tool.ts";
import { memoryStore } from "../../store/memory-store.ts";
import { createWorkspace } from "../create-workspace.ts";

test("call() records its beginning and its end, in the store and for listeners", async () => {
  const { workspace, events, store } = setUp();

  const outcome = await workspace.call("box/echo", { text: "hi" }, { user: "ada" });
  const stored = await read(store);

  const id = events[0]?.call;
  expect(events).toEqual([
    {
      type: "call-start",
      call: id,
      user: "ada",
      tool: "box/echo",
      source: "component",
      owner: "box",
      input: { text: "hi" },
      time: expect.any(Number),
    },
    { type: "call-end", call: id, tool: "box/echo", outcome, durationMs: expect.any(Number) },
  ]);
  expect(stored).toEqual(events.map((event) => ({ ...event, ...anyDuration(event) })));
});

test("call() records the version of the tool that runs, also of one that is called by an earlier version", async () => {
  const store = memoryStore();
  const workspace = createWorkspace({ store });
  const toVersion = (version: string): Tool => ({ ...echo, version });
  workspace.add(toVersion("1.1.0"), { versions: [toVersion("1.0.0")] });

  await workspace.call("echo", { text: "now" });
  await workspace.call("echo@1.0.0", { text: "then" });

  const starts = (await read(store)).filter(({ type }) => type === "call-start");
  expect(starts).toMatchObject([
    { tool: "echo", version: "1.1.0" },
    { tool: "echo", version: "1.0.0" },
  ]);
});

test("call() is recorded in the store also if nobody listens", async () => {
  const store = memoryStore();
  const workspace = createWorkspace({ tools: [echo], store });

  const outcome = await workspace.call("echo", { text: "first" });
  await workspace.call("echo", { text: "second" });

  expect(await read(store)).toMatchObject([
    { type: "call-start", tool: "echo", input: { text: "first" } },
    { type: "call-end", tool: "echo", outcome },
    { type: "call-start", tool: "echo", input: { text: "second" } },
    { type: "call-end", tool: "echo", outcome: { output: "second" } },
  ]);
});

test("call() records what was asked for when there is no such tool", async () => {
  const { workspace, events, store } = setUp();

  await workspace.call("box/ecko", { text: "hi" });

  expect(events).toMatchObject([
    { type: "call-start", tool: "box/ecko", input: { text: "hi" } },
    { type: "call-end", tool: "box/ecko", outcome: { error: { code: "tool-not-found" } } },
  ]);
  expect(events[0]).not.toHaveProperty("source");
  expect((await read(store)).map(({ type }) => type)).toEqual(["call-start", "call-end"]);
});

test("calls inside calls are recorded inside them, with their parent", async () => {
  const { workspace, events } = setUp();

  await workspace.call("outer");

  const [outer, inner] = events;
  expect(events).toMatchObject([
    { type: "call-start", tool: "outer" },
    { type: "call-start", tool: "box/echo", parent: outer?.call },
    { type: "call-end", tool: "box/echo", call: inner?.call },
    { type: "call-end", tool: "outer", call: outer?.call },
  ]);
});

test("call() tells its own listener of itself and the calls inside it, and of no others", async () => {
  const { workspace, events } = setUp();
  const own: CallEvent[] = [];

  await Promise.all([
    workspace.call("outer", {}, { onEvent: (event) => own.push(event) }),
    workspace.call("box/echo", { text: "another" }),
  ]);

  expect(own.map(({ type }) => type)).toEqual(["call-start", "call-start", "call-end", "call-end"]);
  expect(own.every((event) => events.includes(event))).toBe(true);
});

test("call() is told to its own listener also if nobody else listens", async () => {
  const workspace = createWorkspace({ tools: [echo] });
  const own: string[] = [];

  await workspace.call("echo", { text: "hi" }, { onEvent: (event) => own.push(event.type) });

  expect(own).toEqual(["call-start", "call-end"]);
});

test("call() goes on when its own listener throws", async () => {
  const workspace = createWorkspace({ tools: [echo] });

  const outcome = await workspace.call(
    "echo",
    { text: "hi" },
    {
      onEvent() {
        throw new Error("I do not care");
      },
    },
  );

  expect(outcome).toEqual({ status: "ok", output: "hi" });
});

test("onEvent() lets a listener make calls; they are told after what it was told", async () => {
  const { workspace, events } = setUp();
  const inner: Promise<unknown>[] = [];
  const heard: string[] = [];
  const end = workspace.onEvent((event) => {
    if (event.type !== "call-start" || inner.length > 2) return;
    inner.push(workspace.call("box/echo", { text: `${inner.length}` }));
  });
  workspace.onEvent((event) => heard.push(`${event.type} ${event.call}`));

  await workspace.call("box/echo", { text: "first" });
  await Promise.all(inner);
  end();

  expect(heard.length).toBe(8);
  expect(heard).toEqual(events.map((event) => `${event.type} ${event.call}`));
  expect(await Promise.all(inner)).toEqual(["0", "1", "2"].map((output) => ({ status: "ok", output })));
});

test("a listener can change an event without changing the call", async () => {
  const { workspace } = setUp();
  workspace.onEvent((event) => {
    if (event.type === "call-start") Object.assign(event.input as object, { text: "changed" });
  });

  const outcome = await workspace.call("box/echo", { text: "hi" });

  expect(outcome).toEqual({ status: "ok", output: "hi" });
});

test("what cannot be recorded does not run, and whoever heard that it begins hears that it ends", async () => {
  const { workspace, events, ran } = setUp(() => {
    throw new KitbagError("store-closed", { operation: "log.append" });
  });

  const outcome = await workspace.call("count");

  expect(outcome).toMatchObject({ status: "failed", error: { code: "store-failed", details: { ran: false } } });
  expect(ran()).toBe(0);
  expect(events).toMatchObject([{ type: "call-start" }, { type: "call-end", outcome }]);
});

test("a call whose end cannot be recorded fails, says that the tool did run, and is told so", async () => {
  const { workspace, events, ran, store } = setUp((event) => {
    if (event.type === "call-end") throw new Error("disk full");
  });

  const outcome = await workspace.call("count");

  expect(outcome).toMatchObject({
    status: "failed",
    error: { code: "store-failed", details: { reason: "disk full", ran: true } },
  });
  expect(ran()).toBe(1);
  expect(events).toMatchObject([{ type: "call-start" }, { type: "call-end", outcome }]);
  expect((await read(store)).map(({ type }) => type)).toEqual(["call-start"]);
});

test("a call that was refused and whose end cannot be recorded says that nothing ran", async () => {
  const { workspace } = setUp((event) => {
    if (event.type === "call-end") throw new Error("disk full");
  });

  const outcome = await workspace.call("box/echo", { wrong: true });

  expect(outcome).toMatchObject({ error: { code: "store-failed", details: { ran: false } } });
});

test("a function runs before it is recorded that it begins, with a store that kept the last one; both are before it answers", async () => {
  const { workspace, events, recorded } = setUp();

  const first = await workspace.call("look");
  const second = await workspace.call("look");

  expect(first).toMatchObject({ status: "ok", output: 1 });
  expect(second).toMatchObject({ status: "ok", output: 2 });
  expect(recorded).toEqual(["call-start", "call-end", "call-start", "call-end"]);
  expect(events.map(({ type }) => type)).toEqual(recorded);
});

test.each(["call-start", "call-end"] as const)(
  "a function that ran answers nothing when its %s cannot be recorded, and none runs until something can be",
  async (type) => {
    let isFull = false;
    const { workspace, events, ran } = setUp((event) => {
      if (isFull && event.type === type) throw new Error("disk full");
    });
    await workspace.call("count");

    isFull = true;
    const outcome = await workspace.call("count");
    const next = await workspace.call("count");

    expect(outcome).toMatchObject({ status: "failed", error: { code: "store-failed", details: { ran: true } } });
    expect(events.slice(2, 4)).toMatchObject([{ type: "call-start" }, { type: "call-end", outcome }]);
    expect(next).toMatchObject({ error: { code: "store-failed", details: { ran: type === "call-end" } } });
    expect(ran()).toBe(type === "call-end" ? 3 : 2);
  },
);

test("a function that waits for somebody does not run any more when its beginning cannot be recorded", async () => {
  let isFull = false;
  const { workspace, ran, recorded } = setUp((event) => {
    if (isFull && event.type === "call-start") throw new Error("disk full");
  });
  workspace.use(async (_, next) => {
    await new Promise((resolve) => setTimeout(resolve, 20));
    return next();
  });
  await workspace.call("count");

  isFull = true;
  const outcome = await workspace.call("count");

  expect(outcome).toMatchObject({ error: { code: "store-failed", details: { ran: false } } });
  expect(ran()).toBe(1);
  expect(recorded).toEqual(["call-start", "call-end"]);
});

test("R19: what the store says when it fails shows no secret", async () => {
  const store = memoryStore();
  const log: Store["log"] = {
    ...store.log,
    append: () => Promise.reject(new Error("postgres://me:hunter2hunter2@db")),
  };
  const workspace = createWorkspace({
    tools: [echo],
    store: { ...store, log },
    secrets: { PASSWORD: "hunter2hunter2" },
  });

  const outcome = await workspace.call("echo", { text: "hi" });

  expect(outcome).toMatchObject({ error: { details: { reason: "postgres://me:[PASSWORD]@db" } } });
});

test("a failure of Kitbag itself is an outcome like any other: recorded, and without secrets", async () => {
  const { workspace, events } = setUp();
  const broken = { ...echo, name: "broken" };
  Object.defineProperty(broken, "needsApproval", {
    get() {
      throw new Error("broken with hunter2hunter2");
    },
  });
  workspace.add(broken);

  const outcome = await workspace.call("broken", { text: "hi" });

  expect(outcome).toMatchObject({
    status: "failed",
    error: { code: "call-crashed", details: { tool: "broken", reason: "broken with [PASSWORD]" } },
  });
  expect(events).toMatchObject([{ type: "call-start" }, { type: "call-end", outcome }]);
});

const echo = defineTool({
  name: "echo",
  description: "Says it again",
  input: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
  run: ({ text }) => text,
});

/** A workspace on a store that calls `onAppend` before it appends. */
function setUp(onAppend: (event: CallEvent) => void = () => {}): {
  workspace: ReturnType<typeof createWorkspace>;
  events: CallEvent[];
  store: Store;
  ran: () => number;
  /** What the store has acknowledged. */
  recorded: string[];
} {
  const store = memoryStore();
  const log: Store["log"] = {
    ...store.log,
    async append(stream, values, options) {
      for (const value of values) onAppend(value as unknown as CallEvent);
      const position = await store.log.append(stream, values, options);
      recorded.push(...values.map((value) => (value as unknown as CallEvent).type));
      return position;
    },
  };
  const recorded: string[] = [];
  let ran = 0;
  const outer = defineTool({
    name: "outer",
    description: "Calls another",
    run: (_, { call }) => call("box/echo", { text: "x" }),
  });
  const count = defineTool({ name: "count", description: "Counts", run: () => (ran += 1) });
  const look = defineTool({
    name: "look",
    description: "Looks how much is recorded",
    run: () => recorded.length,
  });
  const workspace = createWorkspace({
    tools: [outer, count, look],
    components: [{ name: "box", tools: [echo] }],
    store: { ...store, log },
    secrets: { PASSWORD: "hunter2hunter2" },
  });
  const events: CallEvent[] = [];
  workspace.onEvent((event) => events.push(event));
  return { workspace, events, store, ran: () => ran, recorded };
}

async function read(store: Store): Promise<CallEvent[]> {
  return (await store.log.read("calls")).map((entry) => entry.value as unknown as CallEvent);
}

function anyDuration(event: CallEvent): object {
  return event.type === "call-end" ? { durationMs: expect.any(Number) as number } : {};
}
