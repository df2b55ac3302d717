import { afterEach, beforeEach, expect, test, vi } from "vitest";

import { defineTool } from "../../core/define-tool.ts";
import type { ToolOutcome } from "../../core/outcome.ts";
import type { Store } from "../../core/store.ts";
import { memoryStore } from "../../store/memory-store.ts";
import { createWorkspace } from "../create-workspace.ts";
import type { Workspace } from "../workspace.ts";
import { changeKeptQuotas, type QuotaOptions } from "./quota-options.ts";

beforeEach(() => void vi.useFakeTimers({ toFake: ["Date"], now: Date.parse("2026-11-18T22:00:00Z") }));
afterEach(() => void vi.useRealTimers());

test("a user who has made the calls of a day is refused until the next, and other users are not", async () => {
  const { call } = setUp({ each: { calls: 2 } });

  const codes = [await call("ann"), await call("ann"), await call("ann"), await call("bob")].map(codeOf);
  const refused = await call("ann");
  vi.setSystemTime(Date.parse("2026-11-19T00:00:00Z"));

  expect(codes).toEqual(["ok", "ok", "quota-reached", "ok"]);
  expect(refused).toMatchObject({
    error: {
      details: { user: "ann", quota: "calls", limit: 2, used: 2, startsAgain: "2026-11-19T00:00:00Z" },
      message:
        'Cannot use more: the user "ann" has used 2 of 2 calls a day; counting starts again at 2026-11-19T00:00:00Z. The operator can raise it: kitbag quota set ann --calls <amount>',
    },
  });
  expect(codeOf(await call("ann"))).toBe("ok");
});

test("calls are counted together by all processes that share a store, and after a restart", async () => {
  const store = memoryStore();
  const calls = [1, 2, 3].map(() => setUp({ each: { calls: 5 } }, store).call);

  const outcomes = await Promise.all(calls.flatMap((call) => Array.from({ length: 5 }, () => call("ann"))));

  expect(outcomes.filter(({ status }) => status === "ok")).toHaveLength(5);
  expect(codeOf(await setUp({ each: { calls: 5 } }, store).call("ann"))).toBe("quota-reached");
});

test("a quota of no calls refuses all, and a call that is refused is not counted", async () => {
  const store = memoryStore();
  const { call, workspace } = setUp({ users: { ann: { calls: 0 } } }, store);
  for (let index = 0; index < 5; index++) expect(codeOf(await call("ann"))).toBe("quota-reached");
  await changeKeptQuotas(store.kv, "ann", () => ({ calls: 1 }));
  await workspace.quotas.refresh();

  expect([codeOf(await call("ann")), codeOf(await call("ann"))]).toEqual(["ok", "quota-reached"]);
});

test("calls inside a call, calls without a user, and the local user need no quota of each user", async () => {
  const { call, workspace } = setUp({ each: { calls: 1 } });
  workspace.add(
    defineTool({
      name: "outer",
      description: "Calls",
      run: async (_input, { call: inner }) => (await inner("echo")).status,
    }),
  );

  expect(await workspace.call("outer", {}, { user: "ann" })).toMatchObject({ output: "ok" });
  for (const user of [undefined, undefined, "local", "local", "me", "me"]) expect(codeOf(await call(user))).toBe("ok");
});

test("the local user has the quotas that are set by name, whichever of both names is used", async () => {
  const { call } = setUp({ users: { me: { calls: 2 } } });

  expect([await call("me"), await call("local"), await call("me")].map(codeOf)).toEqual(["ok", "ok", "quota-reached"]);
  expect(() => setUp({ users: { me: { calls: 2 }, local: { calls: 3 } } })).toThrow(/the local user twice/u);
});

test("what is said of a user goes before what is said of each, and a command before the configuration", async () => {
  const store = memoryStore();
  const { workspace } = setUp({ each: { calls: 1, tokens: 1, drafts: 1 }, users: { ann: { calls: 2 } } }, store);
  const limits = (user: string): unknown => workspace.quotas.of(user)?.limits;
  const before = [limits("ann"), limits("bob")];
  await changeKeptQuotas(store.kv, undefined, () => ({ calls: 10, tokens: 10 }));
  await changeKeptQuotas(store.kv, "ann", () => ({ tokens: "none" }));
  await workspace.quotas.refresh();
  await workspace.quotas.refresh();

  expect(before).toEqual([
    { calls: 2, tokens: 1, drafts: 1 },
    { calls: 1, tokens: 1, drafts: 1 },
  ]);
  expect([limits("ann"), limits("bob")]).toEqual([
    { calls: 2, drafts: 1 },
    { calls: 10, tokens: 10, drafts: 1 },
  ]);
  expect(workspace.quotas.of("bob")?.origins).toMatchObject({ calls: { by: "command", for: "each" } });
  expect(workspace.quotas.named()).toEqual(["ann"]);
  expect(workspace.quotas.each()).toEqual({ calls: 10, tokens: 10, drafts: 1 });
});

test("a user whose quotas are all taken away has none", async () => {
  const { call, workspace } = setUp({ each: { calls: 0 }, users: { ann: { calls: "none" } } });

  expect(workspace.quotas.of("ann")).toBeUndefined();
  expect(codeOf(await call("ann"))).toBe("ok");
});

test("quotas that are set and cleared in the store hold from the next refresh on", async () => {
  const store = memoryStore();
  const { call, workspace } = setUp({}, store);
  await changeKeptQuotas(store.kv, undefined, () => ({ calls: 0 }));
  const unseen = await call("ann");
  await workspace.quotas.refresh();
  const refused = await call("ann");
  await changeKeptQuotas(store.kv, undefined, () => ({}));
  await workspace.quotas.refresh();

  expect([unseen, refused, await call("ann")].map(codeOf)).toEqual(["ok", "quota-reached", "ok"]);
});

test("20 programs that set quotas at once lose none, and other failures are told", async () => {
  const { kv } = memoryStore();
  const names = Array.from({ length: 20 }, (_, index) => `user ${index}`);
  await Promise.all(names.map((name) => changeKeptQuotas(kv, name, (before) => ({ ...before, calls: 1 }))));
  const { workspace } = setUp({}, { ...memoryStore(), kv });
  await workspace.quotas.refresh();

  expect(workspace.quotas.named().toSorted()).toEqual(names.toSorted());
  const broken = { ...kv, set: () => Promise.reject(new Error("disk full")) };
  await expect(changeKeptQuotas(broken, "ann", () => ({ calls: 1 }))).rejects.toThrow("disk full");
});

test("names stay apart, also those that look alike or are no names", async () => {
  const { call } = setUp({ each: { calls: 1 } });
  // The second "аnn" begins with a Cyrillic letter.
  const names = [
    "ann",
    "аnn",
    "ann ",
    "a/b",
    "a:b",
    "a\0b",
    "__proto__",
    "x".repeat(10_000),
    "\ud83d",
    "\ud83e",
    "constructor",
  ];

  for (const name of names)
    expect([codeOf(await call(name)), codeOf(await call(name))]).toEqual(["ok", "quota-reached"]);
});

test("a clock that goes forward and back starts no day again, and keeps a user out for no longer than a day", async () => {
  const { call } = setUp({ each: { calls: 1 } });
  const at = async (time: string): Promise<string> => {
    vi.setSystemTime(Date.parse(time));
    return codeOf(await call("ann"));
  };

  expect(await at("2026-11-18T10:00:00Z")).toBe("ok");
  expect(await at("2031-01-01T10:00:00Z")).toBe("ok");
  expect(await at("2031-01-01T11:00:00Z")).toBe("quota-reached");
  expect(await at("2026-11-18T11:00:00Z")).toBe("quota-reached");
  expect(await at("2026-11-17T11:00:00Z")).toBe("ok");
  expect(await at("2026-11-19T00:00:01Z")).toBe("ok");
  expect(await at("1970-01-01T00:00:00Z")).toBe("ok");
  expect(await at("2026-11-19T00:00:02Z")).toBe("quota-reached");
});

test("the counters of days long ago are deleted, and never that of today", async () => {
  const store = memoryStore();
  const { call } = setUp({ each: { calls: 1 } }, store);
  for (let day = 1; day <= 28; day++) {
    vi.setSystemTime(Date.UTC(2027, 1, day));
    await call("ann");
  }
  const kept = await store.kv.list({ prefix: "quota-used:" });
  vi.setSystemTime(Date.UTC(2027, 0, 1));

  expect(kept.map(([key]) => key.slice(-2))).toEqual(["20", "21", "22", "23", "24", "25", "26", "27", "28"]);
  expect([codeOf(await call("ann")), codeOf(await call("ann"))]).toEqual(["ok", "quota-reached"]);
});

test("calls at once are counted together by all processes, wait, and are refused if they must not", async () => {
  const store = memoryStore();
  const gate = Promise.withResolvers<string>();
  let running = 0;
  const wait = defineTool({ name: "wait", description: "Waits", run: () => ((running += 1), gate.promise) });
  const [one, two] = [1, 2].map(() => createWorkspace({ tools: [wait], store, quotas: { each: { concurrent: 2 } } }));
  const begun = [one?.call("wait", {}, { user: "ann" }), two?.call("wait", {}, { user: "ann" })];
  await expect.poll(() => running).toBe(2);

  const full = [
    await one?.call("wait", {}, { user: "ann", onLimit: "fail" }),
    await two?.call("wait", {}, { user: "ann", limitMs: 30 }),
  ];
  const waiting = one?.call("wait", {}, { user: "ann" });
  const other = two?.call("wait", {}, { user: "bob" });
  await expect.poll(() => running).toBe(3);
  gate.resolve("done");

  for (const outcome of full) {
    expect(outcome).toMatchObject({
      error: { code: "quota-reached", details: { user: "ann", quota: "concurrent", limit: 2, used: 2 } },
    });
    expect(outcome).toMatchObject({ error: { message: expect.stringContaining("wait until a call ends") as string } });
  }
  expect((await Promise.all([...begun, waiting, other])).map((outcome) => outcome?.status)).toEqual(
    Array(4).fill("ok"),
  );
});

test("a call that fails in its place keeps its failure", async () => {
  const { workspace } = setUp({ each: { concurrent: 1 } });
  workspace.add(
    defineTool({
      name: "fail",
      description: "Fails",
      run: () => {
        throw new Error("broken");
      },
    }),
  );

  expect(codeOf(await workspace.call("fail", {}, { user: "ann" }))).toBe("tool-failed");
});

test("a call that is cancelled while it waits for its quota says so", async () => {
  const gate = Promise.withResolvers<string>();
  const wait = defineTool({ name: "wait", description: "Waits", run: () => gate.promise });
  const workspace = createWorkspace({ tools: [wait], store: memoryStore(), quotas: { each: { concurrent: 1 } } });
  const first = workspace.call("wait", {}, { user: "ann" });
  await new Promise(setImmediate);
  const outcome = await workspace.call("wait", {}, { user: "ann", signal: AbortSignal.timeout(20) });
  gate.resolve("done");

  expect([codeOf(outcome), codeOf(await first)]).toEqual(["call-cancelled", "ok"]);
});

test("a call whose count fails does not run", async () => {
  const store = memoryStore();
  const increment = (): Promise<never> => Promise.reject(new Error("disk full"));
  const { call } = setUp({ each: { calls: 5 } }, { ...store, kv: { ...store.kv, increment } });

  expect(await call("ann")).toMatchObject({
    error: { code: "store-failed", details: { reason: "disk full", ran: false } },
  });
});

test("a workspace without quotas does not touch the store for a call", async () => {
  const store = memoryStore();
  const forbidden = (): Promise<never> => Promise.reject(new Error("touched"));
  const kv = { get: forbidden, set: forbidden, delete: forbidden, list: forbidden, increment: forbidden };
  const { call } = setUp(undefined, { ...store, kv });

  expect(codeOf(await call("ann"))).toBe("ok");
});

test("quotas without a store are refused, because they would be forgotten", () => {
  expect(() => createWorkspace({ quotas: { each: { calls: 1 } } })).toThrow(/quotas.*a store/u);
});

test.for([
  [{ each: { calls: -1 } }, "quotas.each.calls"],
  [{ each: { calls: 1.5 } }, "quotas.each.calls"],
  [{ each: { calls: Number.NaN } }, "quotas.each.calls"],
  [{ each: { calls: 1e300 } }, "quotas.each.calls"],
  [{ each: { calls: Infinity } }, "quotas.each.calls"],
  [{ each: { calls: "5" } }, "quotas.each.calls"],
  [{ each: { concurrent: 0 } }, "quotas.each.concurrent"],
  [{ each: { dollars: -0.01 } }, "quotas.each.dollars"],
  [{ each: { dollars: Number.NaN } }, "quotas.each.dollars"],
  [{ each: { dollars: 1e9 } }, "quotas.each.dollars"],
  [{ each: { dollars: null } }, "quotas.each.dollars"],
  [{ each: { cals: 1 } }, 'quotas.each.cals.*"calls"'],
  [{ each: [] as never, user: {} }, "quotas.user"],
  [{ users: [{ calls: 1 }] }, "quotas.users"],
  [{ users: { ann: 5 } }, "quotas.users.ann"],
  [{ users: { "": { calls: 1 } } }, "quotas.users"],
  [5, "quotas"],
] as const)("quotas %j are refused", ([quotas, message]) => {
  expect(() => createWorkspace({ store: memoryStore(), quotas: quotas as never })).toThrow(new RegExp(message, "u"));
});

interface Stage {
  readonly workspace: Workspace;
  call(user: string | undefined): Promise<ToolOutcome>;
}

function setUp(quotas: QuotaOptions | undefined, store: Store = memoryStore()): Stage {
  const echo = defineTool({ name: "echo", description: "Answers", run: () => "done" });
  const workspace = createWorkspace({ tools: [echo], store, localUser: "me", ...(quotas && { quotas }) });
  return {
    workspace,
    call: (user) => workspace.call("echo", {}, { ...(user !== undefined && { user }) }),
  };
}

function codeOf(outcome: ToolOutcome): string {
  return outcome.status === "ok" ? "ok" : outcome.error.code;
}
