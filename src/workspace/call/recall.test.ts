import { expect, test } from "vitest";

import { defineTool } from "../../core/define-tool.ts";
import type { CallEvent } from "../../core/events.ts";
import type { JsonObject, JsonValue } from "../../core/json.ts";
import type { Store } from "../../core/store.ts";
import { injected, type Tool, type ToolAnnotations, type ToolCache } from "../../core/tool.ts";
import { memoryStore } from "../../store/memory-store.ts";
import { createWorkspace } from "../create-workspace.ts";
import type { Workspace } from "../workspace.ts";

const minute: ToolCache = { ttlMs: 60_000 };

test("a tool with a cache is run once for one input, and the outcome and an event say so", async () => {
  const { tool, runs } = counter({ cache: minute });
  const workspace = createWorkspace({ tools: [tool] });
  const events: CallEvent[] = [];
  workspace.onEvent((event) => events.push(event));

  const first = await workspace.call("count", { of: "a" });
  const second = await workspace.call("count", { of: "a" });
  const other = await workspace.call("count", { of: "b" });

  expect([first, second, other]).toEqual([
    { status: "ok", output: { run: 1 } },
    { status: "ok", output: { run: 1 }, recalled: "cache" },
    { status: "ok", output: { run: 2 } },
  ]);
  expect(runs()).toBe(2);
  expect(events.filter(({ type }) => type === "call-recalled")).toMatchObject([{ from: "cache" }]);
});

test("the cache goes by the checked input: the same after defaults and lenient changes", async () => {
  const { tool, runs } = counter({ cache: minute });
  const workspace = createWorkspace({ tools: [tool] });

  await workspace.call("count", { of: "5", times: 1 });
  const again = await workspace.call("count", { times: "1", of: 5 });

  expect(again).toMatchObject({ recalled: "cache", coerced: expect.any(Array) as object });
  expect(runs()).toBe(1);
});

test("the key of a cache says what of the input decides", async () => {
  const { tool, runs } = counter({ cache: { ...minute, key: ({ of }) => of as string } });
  const workspace = createWorkspace({ tools: [tool] });

  await workspace.call("count", { of: "a", times: 1 });
  await workspace.call("count", { of: "a", times: 2 });

  expect(runs()).toBe(1);
});

test.for<[what: string, key: () => unknown]>([
  ["throws", () => fail("no key")],
  ["is no JSON", () => 5n],
])("a call fails if the key of the cache %s, and nothing runs", async ([, key]) => {
  const { tool, runs } = counter({ cache: { ...minute, key: key as () => JsonValue } });

  const outcome = await createWorkspace({ tools: [tool] }).call("count", { of: "a" });

  expect(outcome).toMatchObject({ status: "failed", error: { code: "tool-failed" } });
  expect(runs()).toBe(0);
});

test("outputs are used again for who asked, or for everybody if the tool says so", async () => {
  const own = counter({ cache: minute });
  const shared = counter({ name: "share", cache: { ...minute, scope: "everybody" } });
  const workspace = createWorkspace({ tools: [own.tool, shared.tool] });
  for (const user of ["Ada", "Bob", "Ada"]) {
    await workspace.call("count", { of: "a" }, { user });
    await workspace.call("share", { of: "a" }, { user });
  }

  expect([own.runs(), shared.runs()]).toEqual([2, 1]);
});

test("an output is forgotten when its time is over, also the one in memory", async () => {
  const { tool, runs } = counter({ cache: { ttlMs: 30 } });
  const workspace = createWorkspace({ tools: [tool] });
  await workspace.call("count", { of: "a" });
  await new Promise((resolve) => setTimeout(resolve, 60));

  await workspace.call("count", { of: "a" });

  expect(runs()).toBe(2);
});

test("another version of a tool has outputs of its own", async () => {
  const { tool, runs } = counter({ cache: minute });
  const workspace = createWorkspace({ tools: [tool] });
  await workspace.call("count", { of: "a" });
  workspace.replace({ ...tool, version: "2.0.0" });

  await workspace.call("count", { of: "a" });

  expect(runs()).toBe(2);
});

test("what somebody does with an output does not change what is kept", async () => {
  const { tool } = counter({ cache: minute });
  const workspace = createWorkspace({ tools: [tool] });
  for (let time = 0; time < 3; time++) {
    const outcome = await workspace.call("count", { of: "a" });
    expect(outcome).toMatchObject({ output: { run: 1 } });
    if (outcome.status === "ok") (outcome.output as { run: number }).run = 99;
  }
});

test("workspaces that share a store share outputs, and hear within a second that they are forgotten", async () => {
  const store = memoryStore();
  const { tool, runs } = counter({ cache: { ...minute, tags: ["numbers"] } });
  const [one, two] = [createWorkspace({ tools: [tool], store }), createWorkspace({ tools: [tool], store })];
  await one.call("count", { of: "a" });
  const shared = await two.call("count", { of: "a" });

  const forgotten = await one.forgetOutputs({ tag: "numbers" });
  await new Promise((resolve) => setTimeout(resolve, 1050));
  const again = await two.call("count", { of: "a" });

  expect(shared).toMatchObject({ recalled: "cache" });
  expect(forgotten).toBe(1);
  expect(again).not.toHaveProperty("recalled");
  expect(runs()).toBe(2);
});

test("forgetOutputs() forgets those of one tool, those with a tag, or all", async () => {
  const [a, b] = [counter({ name: "a", cache: { ...minute, tags: ["x"] } }), counter({ name: "b", cache: minute })];
  const workspace = createWorkspace({ tools: [a.tool, b.tool] });
  const fill = async (): Promise<void> => {
    for (const of of ["1", "2"]) for (const name of ["a", "b"]) await workspace.call(name, { of });
  };

  await fill();
  expect(await workspace.forgetOutputs({ tool: "b" })).toBe(2);
  await fill();
  expect(await workspace.forgetOutputs({ tag: "x" })).toBe(2);
  expect(await workspace.forgetOutputs({ tool: "b", tag: "x" })).toBe(0);
  expect(await workspace.forgetOutputs()).toBe(2);
  await expect(workspace.forgetOutputs({ toll: "a" } as never)).rejects.toMatchObject({ code: "option-invalid" });
  await expect(workspace.forgetOutputs({ tool: "" })).rejects.toMatchObject({ code: "option-invalid" });
});

test("forgetOutputs() forgets those of one version, of one tool if it is named too", async () => {
  const [a, b] = [counter({ name: "a", cache: minute }), counter({ name: "b", cache: { ...minute, tags: ["x"] } })];
  const workspace = createWorkspace({ tools: [a.tool, b.tool] });
  await workspace.call("a", { of: "1" });
  for (const version of ["1.0.0", "2.0.0"]) {
    for (const { tool } of [a, b]) workspace.replace({ ...tool, version });
    for (const name of ["a", "b"]) await workspace.call(name, { of: "1" });
  }

  expect(await workspace.forgetOutputs({ version: "3.0.0" })).toBe(0);
  expect(await workspace.forgetOutputs({ version: "1.0.0", tag: "y" })).toBe(0);
  expect(await workspace.forgetOutputs({ tool: "a", version: "2.0.0" })).toBe(1);
  expect(await workspace.call("a", { of: "1" })).not.toHaveProperty("recalled");
  expect(await workspace.call("b", { of: "1" })).toHaveProperty("recalled");
  expect(await workspace.forgetOutputs({ version: "1.0.0" })).toBe(2);
  expect(await workspace.forgetOutputs({ version: "2.0.0", tag: "x" })).toBe(1);
  expect(await workspace.forgetOutputs({ tool: "a" })).toBe(2);
  await expect(workspace.forgetOutputs({ version: 2 as never })).rejects.toMatchObject({ code: "option-invalid" });
});

test("failures and outputs that are too large or hold a secret are not kept", async () => {
  const failing = counter({ name: "failing", cache: minute, run: () => fail("no") });
  const large = counter({ name: "large", cache: minute, run: () => "x".repeat(5_000_000) });
  const secret = counter({ name: "secret", cache: minute, run: () => "the key is hunter22" });
  const workspace = createWorkspace({
    tools: [failing.tool, large.tool, secret.tool],
    secrets: { KEY: "hunter22" },
  });
  for (const name of ["failing", "large", "secret"]) {
    await workspace.call(name, { of: "a" });
    await workspace.call(name, { of: "a" });
  }

  expect([failing.runs(), large.runs(), secret.runs()]).toEqual([2, 2, 2]);
});

test("a large output that is recalled is capped like any other", async () => {
  const { tool } = counter({ cache: minute, run: () => "x".repeat(5000) });
  const workspace = createWorkspace({ tools: [tool], limits: { maxOutputBytes: 1000 } });
  await workspace.call("count", { of: "a" });

  expect(await workspace.call("count", { of: "a" })).toMatchObject({ recalled: "cache", capped: { bytes: 5000 } });
});

test("calls for the same input at the same time run the tool once", async () => {
  const gate = Promise.withResolvers<string>();
  const { tool, runs } = counter({ cache: minute, run: () => gate.promise });
  const workspace = createWorkspace({ tools: [tool] });
  const calls = Array.from({ length: 5 }, () => workspace.call("count", { of: "a" }));
  await new Promise((resolve) => setTimeout(resolve, 10));
  gate.resolve("done");

  const outcomes = await Promise.all(calls);

  expect(runs()).toBe(1);
  expect(outcomes.filter((outcome) => outcome.status === "ok" && outcome.recalled === "shared")).toHaveLength(4);
});

test("calls that wait for another share its failure, unless it was cut short", async () => {
  const gates = [Promise.withResolvers<string>(), Promise.withResolvers<string>()];
  let turn = 0;
  const { tool, runs } = counter({ cache: minute, run: () => gates[turn++]?.promise });
  const workspace = createWorkspace({ tools: [tool] });
  const controller = new AbortController();
  const cancelled = workspace.call("count", { of: "a" }, { signal: controller.signal });
  await new Promise((resolve) => setTimeout(resolve, 5));
  const others = [workspace.call("count", { of: "a" }), workspace.call("count", { of: "a" })];
  await new Promise((resolve) => setTimeout(resolve, 5));
  controller.abort();
  await new Promise((resolve) => setTimeout(resolve, 5));
  gates[1]?.reject(new Error("broken"));

  expect(await cancelled).toMatchObject({ error: { code: "call-cancelled" } });
  for (const outcome of await Promise.all(others)) expect(outcome).toMatchObject({ error: { code: "tool-failed" } });
  expect(runs()).toBe(2);
});

test("a call does not share that the session of another was closed before its tool was run", async () => {
  const { tool, runs } = counter({ cache: minute });
  const workspace = createWorkspace({ tools: [tool] });
  const gate = Promise.withResolvers<void>();
  workspace.use(
    async (_, next) => {
      await gate.promise;
      return next();
    },
    { before: "run" },
  );
  const [closed, open] = [workspace.openSession(), workspace.openSession()];

  const first = closed.call("count", { of: "a" });
  await new Promise((resolve) => setTimeout(resolve, 5));
  const second = open.call("count", { of: "a" });
  await new Promise((resolve) => setTimeout(resolve, 5));
  await closed.close();
  gate.resolve();

  expect(await first).toMatchObject({ error: { code: "session-closed" } });
  expect(await second).toEqual({ status: "ok", output: { run: 1 } });
  expect(runs()).toBe(1);
});

test("a call inside a call with the same key of the cache does not wait for the outer one", async () => {
  const tool = defineTool({
    name: "down",
    description: "Counts down",
    input: { type: "object", properties: { from: { type: "integer" } }, required: ["from"] },
    cache: { ttlMs: 60_000, key: () => "same" },
    run: async ({ from }, { call }) => {
      if (Number(from) === 0) return "end";
      const inner = await call("down", { from: Number(from) - 1 });
      return inner.status === "ok" ? inner.output : inner.error.code;
    },
  });
  const workspace = createWorkspace({ tools: [tool] });

  const outcome = await workspace.call("down", { from: 2 }, { limitMs: 1000 });

  expect(outcome).toEqual({ status: "ok", output: "end" });
});

test("a call that waits for another keeps its own deadline", async () => {
  const gate = Promise.withResolvers<string>();
  const { tool } = counter({ cache: minute, run: () => gate.promise });
  const workspace = createWorkspace({ tools: [tool] });
  const first = workspace.call("count", { of: "a" });
  await new Promise((resolve) => setTimeout(resolve, 5));

  const second = await workspace.call("count", { of: "a" }, { limitMs: 20 });
  gate.resolve("done");

  expect(second).toMatchObject({ error: { code: "call-timeout" } });
  expect(await first).toMatchObject({ status: "ok" });
});

test("a call with a key is run once, whatever tool it is, and its outcome is given again", async () => {
  const { tool, runs } = counter({});
  const store = memoryStore();
  const options = { idempotencyKey: "order-1" };
  const first = await createWorkspace({ tools: [tool], store }).call("count", { of: "a" }, options);

  const second = await createWorkspace({ tools: [tool], store }).call("count", { of: "a" }, options);

  expect([first, second]).toEqual([
    { status: "ok", output: { run: 1 } },
    { status: "ok", output: { run: 1 }, recalled: "key" },
  ]);
  expect(runs()).toBe(1);
});

test("a key that was used with another input is refused", async () => {
  const { tool, runs } = counter({});
  const workspace = createWorkspace({ tools: [tool] });
  await workspace.call("count", { of: "a" }, { idempotencyKey: "order-1" });

  const outcome = await workspace.call("count", { of: "b" }, { idempotencyKey: "order-1" });

  expect(outcome).toMatchObject({ error: { code: "option-invalid", details: { option: "idempotencyKey" } } });
  expect(runs()).toBe(1);
});

test.for<[what: string, annotations: ToolAnnotations, runs: number]>([
  ["is given again, because the tool may have done something", {}, 1],
  ["is run again if the tool is idempotent", { idempotent: true }, 2],
  ["is run again if the tool is read-only", { readOnly: true }, 2],
])("a failure of a call with a key %s", async ([, annotations, expected]) => {
  const { tool, runs } = counter({ annotations, run: () => fail("no") });
  const workspace = createWorkspace({ tools: [tool] });
  for (let time = 0; time < 2; time++) {
    const outcome = await workspace.call("count", { of: "a" }, { idempotencyKey: "order-1" });
    expect(outcome).toMatchObject({ status: "failed", error: { code: "tool-failed" } });
  }

  expect(runs()).toBe(expected);
});

test("a call that did not reach the tool does not use up its key", async () => {
  const { tool, runs } = counter({});
  const workspace = createWorkspace({ tools: [tool] });
  const remove = workspace.use(
    async (call) => ({ status: "failed", error: { code: "tool-failed", message: "no", details: {} } as never, call }),
    { before: "run" },
  );
  await workspace.call("count", { of: "a" }, { idempotencyKey: "order-1" });
  remove();

  const outcome = await workspace.call("count", { of: "a" }, { idempotencyKey: "order-1" });

  expect(outcome).toEqual({ status: "ok", output: { run: 1 } });
  expect(runs()).toBe(1);
});

test("a call with a key waits for one that runs elsewhere, until its deadline", async () => {
  const store = memoryStore();
  const gate = Promise.withResolvers<string>();
  const { tool, runs } = counter({ run: () => gate.promise });
  const options = { idempotencyKey: "order-1" };
  const [one, two] = [createWorkspace({ tools: [tool], store }), createWorkspace({ tools: [tool], store })];
  const first = one.call("count", { of: "a" }, options);
  await new Promise((resolve) => setTimeout(resolve, 5));
  const late = await two.call("count", { of: "a" }, { ...options, limitMs: 20 });
  const second = two.call("count", { of: "a" }, options);
  gate.resolve("done");

  expect(late).toMatchObject({ error: { code: "call-timeout" } });
  expect(await first).toEqual({ status: "ok", output: "done" });
  expect(await second).toEqual({ status: "ok", output: "done", recalled: "key" });
  expect(runs()).toBe(1);
});

test.for<[what: string, annotations: ToolAnnotations, outcome: object]>([
  ["is run again if the tool is idempotent", { idempotent: true }, { status: "ok", output: { run: 1 } }],
  ["is not run again otherwise", {}, { status: "failed", error: { code: "call-uncertain" } }],
])("a call with a key that was running when its process died %s", async ([, annotations, expected]) => {
  const store = memoryStore();
  await runAndDie(store, annotations);
  const { tool } = counter({ annotations });
  const workspace = createWorkspace({ tools: [tool], store });

  const outcome = await workspace.call("count", { of: "a" }, { idempotencyKey: "order-1" });

  expect(outcome).toMatchObject(expected);
});

test("what is kept for a key is kept as long as the workspace says", async () => {
  let now = Date.now();
  const store = memoryStore({ now: () => now });
  const { tool, runs } = counter({});
  const workspace = createWorkspace({ tools: [tool], store, limits: { keyMs: 60_000 } });
  const call = (): Promise<unknown> => workspace.call("count", { of: "a" }, { idempotencyKey: "order-1" });
  await call();
  now += 59_000;
  const within = await call();
  now += 2000;

  expect(within).toMatchObject({ recalled: "key" });
  expect(await store.kv.list({ prefix: "once:" })).toEqual([]);
  expect(await call()).toEqual({ status: "ok", output: { run: 2 } });
  expect(runs()).toBe(2);
});

test("what is known of a call that was running when its process died stays as long after its deadline", async () => {
  const store = memoryStore();
  const { tool } = counter({ run: () => new Promise(() => {}) });
  const workspace = createWorkspace({ tools: [tool], store, limits: { limitMs: 1000, keyMs: 60_000 } });
  void workspace.call("count", { of: "a" }, { idempotencyKey: "order-1" });
  await new Promise((resolve) => setTimeout(resolve, 5));

  const [entry] = await store.kv.list({ prefix: "once:" });

  expect(entry?.[1].expiresInMs).toBeGreaterThan(61_000);
  expect(entry?.[1].expiresInMs).toBeLessThanOrEqual(76_000);
});

test.for([undefined, Infinity, 1e15])("what is kept for a key stays if it is kept for %s ms", async (keyMs) => {
  const store = memoryStore();
  const limits = keyMs === undefined ? {} : { keyMs };
  const workspace = createWorkspace({ tools: [counter({}).tool], store, limits });
  await workspace.call("count", { of: "a" }, { idempotencyKey: "order-1" });

  const [entry] = await store.kv.list({ prefix: "once:" });

  expect(entry?.[1]).not.toHaveProperty("expiresInMs");
});

test("what is kept for a key has no secrets in it", async () => {
  const store = memoryStore();
  const { tool } = counter({ run: () => ({ text: "the key is hunter22" }) });
  const workspace = createWorkspace({ tools: [tool], store, secrets: { KEY: "hunter22" } });
  await workspace.call("count", { of: "a" }, { idempotencyKey: "order-1" });

  const again = await workspace.call("count", { of: "a" }, { idempotencyKey: "order-1" });

  expect(again).toMatchObject({ output: { text: "the key is [KEY]" } });
  expect(JSON.stringify(await store.kv.list())).not.toContain("hunter22");
});

test("calls with one key at the same time run the tool once", async () => {
  const { tool, runs } = counter({});
  const workspace = createWorkspace({ tools: [tool], store: memoryStore() });
  const options = { idempotencyKey: "order-1" };

  const outcomes = await Promise.all(Array.from({ length: 20 }, () => workspace.call("count", { of: "a" }, options)));

  expect(runs()).toBe(1);
  expect(outcomes.filter((outcome) => outcome.status === "ok" && outcome.recalled === "key")).toHaveLength(19);
});

test.for(["", "x".repeat(257), "\ud83d", 5, null])("the key %j is refused", async (idempotencyKey) => {
  const workspace = createWorkspace({ tools: [counter({}).tool] });

  const outcome = await workspace.call("count", { of: "a" }, { idempotencyKey: idempotencyKey as string });

  expect(outcome).toMatchObject({ error: { code: "option-invalid" } });
});

test.for<[what: string, broken: "get" | "set", cache: ToolCache | undefined, ran: boolean]>([
  ["the cache cannot be read", "get", minute, false],
  ["the cache cannot be written", "set", minute, true],
  ["the key cannot be looked up", "get", undefined, false],
  ["the key cannot be claimed", "set", undefined, false],
])("a call fails if %s", async ([, broken, cache, ran]) => {
  const store = memoryStore();
  const kv = { ...store.kv, [broken]: () => Promise.reject(new Error("the disk is full")) };
  const { tool } = counter({ ...(cache && { cache }) });
  const workspace = createWorkspace({ tools: [tool], store: { ...store, kv } });
  const options = cache === undefined ? { idempotencyKey: "order-1" } : {};

  const outcome = await workspace.call("count", { of: "a" }, options);

  expect(outcome).toMatchObject({ error: { code: "store-failed", details: { reason: "the disk is full", ran } } });
});

test.for<[what: string, cache: unknown]>([
  ["without a time", {}],
  ["with a wrong time", { ttlMs: 0 }],
  ["with a key that is no function", { ...minute, key: "of" }],
  ["with tags that are no words", { ...minute, tags: ["a b"] }],
  ["with a scope that nobody knows", { ...minute, scope: "all" }],
  ["with an unknown word", { ...minute, ttl: 5 }],
  ["that is no object", 60_000],
])("defineTool() refuses a cache %s", ([, cache]) => {
  expect(() => counter({ cache: cache as ToolCache })).toThrow(/cache/u);
});

test("an output is used no longer than its time, also if the store was asked shortly before", async () => {
  const store = memoryStore();
  const { tool } = counter({ cache: { ttlMs: 60 } });
  const workspaces = [1, 2].map(() => createWorkspace({ tools: [tool], store }));
  await workspaces[0]?.call("count", { of: "a" });
  await workspaces[1]?.call("count", { of: "a" });
  await new Promise((resolve) => setTimeout(resolve, 90));

  expect(await workspaces[1]?.call("count", { of: "a" })).toEqual({ status: "ok", output: { run: 2 } });
});

test("an output whose time is over is not remembered, though the store still has it", async () => {
  const store = memoryStore();
  const { tool } = counter({ cache: minute });
  const workspace = createWorkspace({ tools: [tool], store });
  await createWorkspace({ tools: [tool], store }).call("count", { of: "a" });
  const [[key, { value }] = fail("nothing is kept")] = await store.kv.list({ prefix: "cache:" });
  await store.kv.set(key, { ...(value as JsonObject), until: Date.now() - 1 });
  const before = await workspace.call("count", { of: "a" });
  await store.kv.delete(key);

  expect(before).toMatchObject({ recalled: "cache" });
  expect(await workspace.call("count", { of: "a" })).toEqual({ status: "ok", output: { run: 2 } });
});

test("forgetOutputs() also forgets outputs of calls that have begun: they are not kept, and nobody waits for them", async () => {
  const gates = [Promise.withResolvers<string>(), Promise.withResolvers<string>()];
  let turn = 0;
  const { tool } = counter({ cache: minute, run: () => gates[turn++]?.promise });
  const workspace = createWorkspace({ tools: [tool] });
  const before = workspace.call("count", { of: "a" });
  await new Promise((resolve) => setTimeout(resolve, 5));
  await workspace.forgetOutputs();
  const after = workspace.call("count", { of: "a" });
  await new Promise((resolve) => setTimeout(resolve, 5));
  gates[1]?.resolve("new");
  await after;
  gates[0]?.resolve("old");
  await before;

  expect(await workspace.call("count", { of: "a" })).toEqual({ status: "ok", output: "new", recalled: "cache" });
  expect([await before, await after]).toMatchObject([{ output: "old" }, { output: "new" }]);
});

test("forgetOutputs() in one process also forgets the output of a call that has begun in another", async () => {
  const store = memoryStore();
  const gates = [Promise.withResolvers<string>(), Promise.withResolvers<string>()];
  let turn = 0;
  const { tool, runs } = counter({ cache: { ...minute, tags: ["x"] }, run: () => gates[turn++]?.promise });
  const [one, two] = [createWorkspace({ tools: [tool], store }), createWorkspace({ tools: [tool], store })];
  const old = two.call("count", { of: "a" });
  await new Promise((resolve) => setTimeout(resolve, 5));
  await one.forgetOutputs({ tag: "x" });
  const fresh = two.call("count", { of: "a" });
  await new Promise((resolve) => setTimeout(resolve, 5));
  gates[0]?.resolve("old");
  await old;
  gates[1]?.resolve("new");
  await fresh;

  expect(await fresh).toEqual({ status: "ok", output: "new" });
  for (const workspace of [one, two]) {
    expect(await workspace.call("count", { of: "a" })).toMatchObject({ output: "new", recalled: "cache" });
  }
  expect(runs()).toBe(2);
});

test("forgetOutputs() in one process forgets what another one writes at that moment", async () => {
  const store = memoryStore();
  const gate = Promise.withResolvers<string>();
  let turn = 0;
  const { tool } = counter({ cache: minute, run: () => (turn++ === 0 ? gate.promise : "new") });
  const [one, two] = [createWorkspace({ tools: [tool], store }), createWorkspace({ tools: [tool], store })];
  const old = two.call("count", { of: "a" });
  await new Promise((resolve) => setTimeout(resolve, 5));
  await one.forgetOutputs();
  gate.resolve("old");
  await old;

  expect(await two.call("count", { of: "a" })).toEqual({ status: "ok", output: "new" });
});

test("a call whose output is in memory asks the store for nothing, and one without a cache neither", async () => {
  const store = memoryStore();
  let reads = 0;
  const kv = { ...store.kv, get: (key: string) => ((reads += 1), store.kv.get(key)) };
  const { tool } = counter({ cache: minute });
  const plain = defineTool({ name: "plain", description: "Has no cache", run: () => "ok" });
  const workspace = createWorkspace({ tools: [tool, plain], store: { ...store, kv } });
  await workspace.call("count", { of: "a" });
  const first = reads;
  await workspace.call("count", { of: "a" });
  await workspace.call("plain");

  expect([first, reads]).toEqual([3, 3]);
});

test.for<["get" | "set"]>([["get"], ["set"]])(
  "forgetOutputs() forgets outputs while the store is at a %s",
  async ([slow]) => {
    const store = memoryStore();
    const gate = Promise.withResolvers<void>();
    const wait = async (name: string): Promise<void> => (name === slow ? gate.promise : undefined);
    const kv: Store["kv"] = {
      ...store.kv,
      get: (key) => store.kv.get(key).then((found) => wait("get").then(() => found)),
      set: (...write) => store.kv.set(...write).then((version) => wait("set").then(() => version)),
      // As of a store that has not yet written it.
      list: (options) => (slow === "set" ? Promise.resolve([]) : store.kv.list(options)),
    };
    const { tool } = counter({ cache: minute });
    if (slow === "get") await createWorkspace({ tools: [tool], store }).call("count", { of: "a" });
    const workspace = createWorkspace({ tools: [tool], store: { ...store, kv } });
    const first = workspace.call("count", { of: "a" });
    await new Promise((resolve) => setTimeout(resolve, 5));
    await workspace.forgetOutputs();
    gate.resolve();
    await first;

    expect(await workspace.call("count", { of: "a" })).toEqual({ status: "ok", output: { run: 2 } });
  },
);

test("outputs are not used again for a call that brings values for the tool, nor those of such a call for others", async () => {
  const tool = defineTool({
    name: "mine",
    description: "Tells whose it is",
    cache: minute,
    inject: { tenant: injected<number>() },
    run: (_, context) => context.injected.tenant,
  });
  const workspace = createWorkspace({ tools: [tool], injected: { tenant: 0 } });
  const outputs: unknown[] = [];
  for (const options of [{ injected: { tenant: 1 } }, { injected: { tenant: 2 } }, {}, { injected: { other: 3 } }]) {
    outputs.push(await workspace.call("mine", {}, options));
  }

  expect(outputs).toEqual([
    { status: "ok", output: 1 },
    { status: "ok", output: 2 },
    { status: "ok", output: 0 },
    { status: "ok", output: 0, recalled: "cache" },
  ]);
});

test.for<[scope: ToolCache["scope"], outputs: number[]]>([
  ["user", [1, 1, 2]],
  ["everybody", [1, 1, 1]],
])(
  "workspaces that inject values of their own share a store but no outputs, unless they are for everybody: %s",
  async ([scope, expected]) => {
    const store = memoryStore();
    const tool = defineTool({
      name: "mine",
      description: "Tells whose it is",
      cache: { ttlMs: 60_000, ...(scope !== undefined && { scope }) },
      inject: { tenant: injected<number>() },
      run: (_, context) => context.injected.tenant,
    });
    const [one, two] = [1, 2].map((tenant) => createWorkspace({ tools: [tool], store, injected: { tenant } }));
    const outcomes = [await one?.call("mine"), await one?.call("mine"), await two?.call("mine")];

    expect(outcomes.map((outcome) => outcome?.status === "ok" && outcome.output)).toEqual(expected);
    expect(outcomes[1]).toMatchObject({ recalled: "cache" });
  },
);

test.for<[what: string, fails: boolean]>([
  ["an output", false],
  ["a failure", true],
])("who waits for another call gets %s without the secrets that only that one knows", async ([, fails]) => {
  const gate = Promise.withResolvers<void>();
  const tool = defineTool({
    name: "leaky",
    description: "Lets everything out",
    cache: minute,
    inject: { key: injected<string>() },
    run: async (_, context) => {
      await gate.promise;
      return fails ? fail(context.injected.key) : context.injected.key;
    },
  });
  const workspace = createWorkspace({ tools: [tool], injected: { key: "hunter22" } });
  const calls = [1, 2].map(() => workspace.call("leaky"));
  await new Promise((resolve) => setTimeout(resolve, 5));
  gate.resolve();
  const outcomes = await Promise.all(calls);

  expect(JSON.stringify(outcomes)).not.toContain("hunter22");
  for (const outcome of outcomes) expect(JSON.stringify(outcome)).toContain("[key]");
});

test("the keys of one user mean nothing to another", async () => {
  const { tool, runs } = counter({});
  const workspace = createWorkspace({ tools: [tool] });
  const outcomes: unknown[] = [];
  for (const user of ["Ada", "Bob", undefined]) {
    const options = { idempotencyKey: "order-1", ...(user !== undefined && { user }) };
    outcomes.push(await workspace.call("count", { of: "a" }, options));
  }

  expect(outcomes).toEqual([1, 2, 3].map((run) => ({ status: "ok", output: { run } })));
  expect(runs()).toBe(3);
});

test("a call with a key hands over an output that is too large to be kept for the key, and is not run again", async () => {
  const { tool, runs } = counter({ run: () => "x".repeat(33 * 1024 * 1024) });
  const workspace = createWorkspace({ tools: [tool] });
  const again = (): Promise<unknown> => workspace.call("count", { of: "a" }, { idempotencyKey: "order-1" });

  const outcomes = [await again(), await again()];

  expect(outcomes).toMatchObject([{ status: "ok" }, { status: "failed", error: { code: "output-too-large" } }]);
  expect(runs()).toBe(1);
});

test("a call without a deadline can have a key", async () => {
  const { tool } = counter({});
  const workspace = createWorkspace({ tools: [tool] });

  const outcome = await workspace.call("count", { of: "a" }, { idempotencyKey: "order-1", limitMs: Infinity });

  expect(outcome).toMatchObject({ status: "ok" });
});

interface CounterParts {
  readonly name?: string;
  readonly cache?: ToolCache;
  readonly annotations?: ToolAnnotations;
  readonly run?: () => unknown;
}

/** A tool that counts how often it runs. */
function counter({ name = "count", cache, annotations = {}, run }: CounterParts): { tool: Tool; runs: () => number } {
  let runs = 0;
  const tool = defineTool({
    name,
    description: "Counts its runs",
    input: {
      type: "object",
      properties: { of: { type: "string" }, times: { type: "integer", default: 1 } },
      required: ["of"],
    },
    annotations,
    ...(cache !== undefined && { cache }),
    run: () => {
      runs += 1;
      return run === undefined ? { run: runs } : run();
    },
  });
  return { tool, runs: () => runs };
}

/** Leaves in `store` what a process leaves that died an hour ago in the middle of a call. */
async function runAndDie(store: Store, annotations: ToolAnnotations): Promise<void> {
  const { tool } = counter({ annotations, run: () => new Promise(() => {}) });
  const workspace: Workspace = createWorkspace({ tools: [tool], store });
  void workspace.call("count", { of: "a" }, { idempotencyKey: "order-1", limitMs: 2_000_000 });
  await new Promise((resolve) => setTimeout(resolve, 5));
  const [[key] = fail("the call has no lease")] = await store.kv.list({ prefix: "lease:once:" });
  await store.kv.delete(key);
}

function fail(reason: string): never {
  throw new Error(reason);
}

test("counters that forget everything make no call happen twice that was to happen once, and lose no failed call", async () => {
  const kept = memoryStore();
  const done: string[] = [];
  const pay = defineTool({ name: "pay", description: "Pays", run: () => done.push("paid") });
  const fails = defineTool({ name: "fails", description: "Fails", run: () => Promise.reject(new Error("no")) });
  const open = (): Workspace => {
    const store = { ...kept, counters: memoryStore().kv };
    return createWorkspace({
      tools: [pay, fails],
      store,
      keepFailed: true,
      rates: [{ per: "user", calls: 100, inMs: 60_000 }],
    });
  };
  const before = open();
  await before.call("pay", {}, { idempotencyKey: "order-1" });
  await before.call("fails");

  await open().call("pay", {}, { idempotencyKey: "order-1" });

  expect(done).toEqual(["paid"]);
  expect((await kept.kv.list({ prefix: "dead:" })).length).toBeGreaterThan(0);
  expect((await kept.kv.list()).filter(([key]) => /^(?:rate|cache|slot)/u.test(key))).toEqual([]);
});
