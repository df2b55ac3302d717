import { afterEach, expect, test, vi } from "vitest";

import { defineSkill } from "../../core/define-skill.ts";
import { defineTool } from "../../core/define-tool.ts";
import type { ToolOutcome } from "../../core/outcome.ts";
import type { Tool, ToolLimits } from "../../core/tool.ts";
import { memoryStore } from "../../store/memory-store.ts";
import { createWorkspace } from "../create-workspace.ts";
import type { RateLimit } from "../rates/rate-limit.ts";
import type { CallOptions } from "./call-options.ts";

const long = 3_600_000;
const atOnce: CallOptions = { onLimit: "fail" };

afterEach(() => {
  vi.useRealTimers();
});

test("a call over the limit fails with when to retry, if it must not wait", async () => {
  const workspace = createWorkspace({ tools: [echo()], rates: [{ per: "workspace", calls: 2, inMs: long }] });
  const codes = await codesOf([1, 2, 3], () => workspace.call("echo", {}, atOnce));
  const outcome = await workspace.call("echo", {}, atOnce);

  expect(codes).toEqual(["ok", "ok", "limit-reached"]);
  expect(outcome).toMatchObject({ error: { details: { tool: "echo", rate: "2 calls in 1 h" } } });
  expect(retryAfter(outcome)).toBeGreaterThan(0);
});

test("a call that would wait longer than it may run fails at once", async () => {
  const workspace = createWorkspace({ tools: [echo()], rates: [{ per: "tool", calls: 1, inMs: 3_600_500 }] });
  await workspace.call("echo");

  const outcome = await workspace.call("echo", {}, { limitMs: 5000 });

  expect(outcome).toMatchObject({
    error: { code: "limit-reached", details: { rate: "1 call in 3600500 ms per tool" } },
  });
});

test("a call over the limit waits, and says in its end how long", async () => {
  const workspace = createWorkspace({ tools: [echo()], rates: [{ per: "tool", calls: 3, inMs: 1000, burst: 1 }] });
  const queued: unknown[] = [];
  workspace.onEvent((event) => event.type === "call-end" && queued.push(event.queuedMs));

  const outcomes = await Promise.all([1, 2, 3].map(() => workspace.call("echo")));

  expect(outcomes.map(({ status }) => status)).toEqual(["ok", "ok", "ok"]);
  expect(queued).toEqual([undefined, expect.any(Number), expect.any(Number)]);
});

test("a call that waits for a limit ends when it is cancelled, or at its deadline", async () => {
  for (const store of [undefined, memoryStore()]) {
    const rates: RateLimit[] = [{ per: "tool", calls: 1, inMs: 10_000, burst: 1 }];
    const workspace = createWorkspace({ tools: [echo()], rates, ...(store && { store }) });
    await workspace.call("echo");
    const controller = new AbortController();
    const cancelled = workspace.call("echo", {}, { signal: controller.signal });
    await new Promise((resolve) => setTimeout(resolve, 20));
    const late = await workspace.call("echo", {}, { limitMs: 50 });
    const atOnceToo = await workspace.call("echo", {}, atOnce);
    controller.abort();

    expect(await cancelled).toMatchObject({ error: { code: "call-cancelled" } });
    expect([late, atOnceToo].map(codeOf)).toEqual(["limit-reached", "limit-reached"]);
  }
});

test("limits are counted for each tool, skill and user by itself, or for one of them", async () => {
  const skill = defineSkill({ name: "talk", description: "Talks", tools: [echo("a"), echo("b")] });
  const rates: RateLimit[] = [
    { per: "skill", calls: 3, inMs: long },
    { per: "user", of: "Bob", calls: 1, inMs: long },
    { per: "tool", of: "other", calls: 1, inMs: long },
  ];
  const workspace = createWorkspace({ tools: [echo(), echo("other")], skills: [skill], rates });
  await workspace.activateSkill("talk");
  const call = async (tool: string, user: string): Promise<string> =>
    codeOf(await workspace.call(tool, {}, { ...atOnce, user }));

  expect([await call("talk/a", "Ada"), await call("talk/b", "Ada"), await call("talk/a", "Eve")]).toEqual(
    Array(3).fill("ok"),
  );
  expect(await call("talk/b", "Ada")).toBe("limit-reached");
  expect([await call("echo", "Bob"), await call("echo", "Bob")]).toEqual(["ok", "limit-reached"]);
  expect([await call("other", "Ada"), await call("other", "Ada")]).toEqual(["ok", "limit-reached"]);
  expect([await call("echo", "Ada"), await call("echo", "Ada")]).toEqual(["ok", "ok"]);
});

test("a call that one limit refuses is not counted for the others", async () => {
  for (const store of [undefined, memoryStore()]) {
    const rates: RateLimit[] = [
      { per: "workspace", calls: 2, inMs: long },
      { per: "user", calls: 1, inMs: long },
    ];
    const workspace = createWorkspace({ tools: [echo()], rates, ...(store && { store }) });
    const users = ["Ada", "Ada", "Ada", "Bob", "Eve"];
    const codes: string[] = [];
    for (const user of users) codes.push(codeOf(await workspace.call("echo", {}, { ...atOnce, user })));

    expect(codes).toEqual(["ok", "limit-reached", "limit-reached", "ok", "limit-reached"]);
  }
});

test("a tool has a limit of its own, and another one when it is replaced", async () => {
  const workspace = createWorkspace({ tools: [echo("echo", { rate: { calls: 1, inMs: long } })] });
  const before = await codesOf([1, 2], () => workspace.call("echo", {}, atOnce));
  workspace.replace(echo("echo", { rate: { calls: 2, inMs: long } }));
  const after = await codesOf([1, 2, 3], () => workspace.call("echo", {}, atOnce));

  expect(before).toEqual(["ok", "limit-reached"]);
  expect(after).toEqual(["ok", "ok", "limit-reached"]);
});

test("calls that tools make count for tools, and not for users and the workspace", async () => {
  const outer = defineTool({
    name: "outer",
    description: "Calls echo",
    run: async (_input, { call }) => (await Promise.all([call("echo"), call("echo")])).map((one) => one.status),
  });
  const rates: RateLimit[] = [
    { per: "user", calls: 1, inMs: long },
    { per: "workspace", calls: 1, inMs: long },
    { per: "tool", of: "echo", calls: 1, inMs: long },
  ];
  const workspace = createWorkspace({ tools: [echo(), outer], rates });

  expect(await workspace.call("outer", {}, atOnce)).toMatchObject({ output: ["ok", "failed"] });
});

test("workspaces that share a store share limits", async () => {
  const store = memoryStore();
  const options = { tools: [echo()], store, rates: [{ per: "workspace", calls: 3, inMs: long }] as RateLimit[] };
  const workspaces = [createWorkspace(options), createWorkspace(options)];

  const outcomes = await Promise.all(
    [1, 2, 3].flatMap(() => workspaces.map((workspace) => workspace.call("echo", {}, atOnce))),
  );

  expect(outcomes.filter(({ status }) => status === "ok")).toHaveLength(3);
});

test("a call fails, and does not run, if the limit cannot be counted", async () => {
  const store = memoryStore();
  const fail = (): Promise<never> => Promise.reject(new Error("the disk is full"));
  const kv = { ...store.kv, increment: fail, set: fail };
  for (const calls of [3, 3000]) {
    const rates: RateLimit[] = [{ per: "workspace", calls, inMs: long }];
    const workspace = createWorkspace({ tools: [echo()], rates, store: { ...store, kv } });

    expect(await workspace.call("echo")).toMatchObject({ error: { code: "store-failed", details: { ran: false } } });
  }
});

test("calls that wait for a small limit go as often as it says", async () => {
  vi.useFakeTimers();
  for (const store of [undefined, memoryStore({ now: Date.now })]) {
    const rates: RateLimit[] = [{ per: "tool", calls: 1, inMs: 1000 }];
    const workspace = createWorkspace({ tools: [echo()], rates, ...(store && { store }) });
    const begun = Date.now();
    const ended: number[] = [];
    const calls = [1, 2, 3, 4, 5].map(async () => {
      await workspace.call("echo");
      ended.push(Date.now() - begun);
    });
    await vi.advanceTimersByTimeAsync(5000);
    await Promise.all(calls);

    expect(ended).toEqual([0, 1000, 2000, 3000, 4000]);
  }
});

test("a call that would stand behind others is told to come back when they are through", async () => {
  vi.useFakeTimers();
  for (const store of [undefined, memoryStore({ now: Date.now })]) {
    const rates: RateLimit[] = [{ per: "tool", calls: 1, inMs: 10_000 }];
    const workspace = createWorkspace({ tools: [echo()], rates, ...(store && { store }) });
    const calls = [1, 2, 3].map(() => workspace.call("echo", {}, { limitMs: long }));
    await vi.advanceTimersByTimeAsync(4000);

    // The second goes in 6 s, the third 10 s later, and then it takes 10 s more.
    expect(retryAfter(await workspace.call("echo", {}, atOnce))).toBe(26_000);
    await vi.advanceTimersByTimeAsync(16_000);
    await Promise.all(calls);
  }
});

test("a call fails as soon as it knows that there is no room in what is left of its time", async () => {
  vi.useFakeTimers();
  const rates: RateLimit[] = [
    { per: "workspace", calls: 1, inMs: 800 },
    { per: "tool", calls: 1, inMs: 2300 },
  ];
  const workspace = createWorkspace({ tools: [echo()], rates });
  await workspace.call("echo");
  const begun = Date.now();

  const short = await workspace.call("echo", {}, { limitMs: 2000 });
  const shortMs = Date.now() - begun;
  const waiting = workspace.call("echo", {}, { limitMs: 10_000 });
  await vi.advanceTimersByTimeAsync(500);
  const behind = await workspace.call("echo", {}, { limitMs: 200 });
  const behindMs = Date.now() - begun;
  await vi.advanceTimersByTimeAsync(2000);

  expect([codeOf(short), retryAfter(short), shortMs]).toEqual(["limit-reached", 2300, 0]);
  expect([codeOf(behind), behindMs]).toEqual(["limit-reached", 500]);
  expect(codeOf(await waiting)).toBe("ok");
});

test("a call whose turn comes waits for another limit that has filled meanwhile, or fails if that takes too long", async () => {
  vi.useFakeTimers();
  for (const [limitMs, code] of [
    [2000, "limit-reached"],
    [30_000, "ok"],
  ] as const) {
    const outer = defineTool({
      name: "outer",
      description: "Calls echo a little later",
      run: async (_input, { call }) => {
        await new Promise((resolve) => setTimeout(resolve, 500));
        return (await call("echo")).status;
      },
    });
    const rates: RateLimit[] = [
      { per: "workspace", calls: 1, inMs: 1000 },
      { per: "tool", of: "echo", calls: 1, inMs: 3000 },
    ];
    const workspace = createWorkspace({ tools: [echo(), outer], rates });
    const first = workspace.call("outer");
    const waiting = workspace.call("echo", {}, { limitMs });
    await vi.advanceTimersByTimeAsync(5000);

    expect(await first).toMatchObject({ output: "ok" });
    expect(codeOf(await waiting)).toBe(code);
  }
});

test("a call whose time is over while it stands in line is told how long it would still have been", async () => {
  vi.useFakeTimers();
  const workspace = createWorkspace({ tools: [echo()], rates: [{ per: "tool", calls: 1, inMs: 1000 }] });
  const calls = [1, 2, 3].map(() => workspace.call("echo"));
  const late = workspace.call("echo", {}, { limitMs: 1500 });
  await vi.advanceTimersByTimeAsync(2000);
  await Promise.all(calls);

  expect([codeOf(await late), retryAfter(await late)]).toEqual(["limit-reached", 1500]);
});

test("a higher priority goes before the one who waits for room, and that one goes on if it is cancelled", async () => {
  vi.useFakeTimers();
  const order: string[] = [];
  const workspace = createWorkspace({ tools: [named(order)], rates: [{ per: "tool", calls: 1, inMs: 1000 }] });
  const call = (who: string, options: CallOptions = {}): Promise<ToolOutcome> =>
    workspace.call("name", { who }, options);
  const controller = new AbortController();
  const calls = [call("first"), call("low"), call("low too")];
  await vi.advanceTimersByTimeAsync(300);
  calls.push(call("never", { priority: 7, signal: controller.signal }), call("high", { priority: 5 }));
  await vi.advanceTimersByTimeAsync(300);
  controller.abort();
  await vi.advanceTimersByTimeAsync(5000);
  await Promise.all(calls);

  expect(order).toEqual(["first", "high", "low", "low too"]);
});

test("users take turns when calls wait for a limit, and higher priorities go first", async () => {
  const rates: RateLimit[] = [{ per: "workspace", calls: 4, inMs: 1000, burst: 1 }];
  const order: string[] = [];
  const workspace = createWorkspace({ tools: [named(order)], rates });
  const who = ["Ada", "Ada", "Ada", "Ada", "Bob", "Eve"];
  const calls = who.map((user, index) => workspace.call("name", { who: `${user} ${index}` }, { user }));
  calls.push(workspace.call("name", { who: "urgent" }, { priority: 5 }));

  await Promise.all(calls);

  // The first found room.
  expect(order).toEqual(["Ada 0", "urgent", "Ada 1", "Bob 4", "Eve 5", "Ada 2", "Ada 3"]);
});

test("a call that waits for its user's limit holds nobody up who waits for another", async () => {
  const rates: RateLimit[] = [
    { per: "workspace", calls: 20, inMs: 1000, burst: 1 },
    { per: "user", of: "Ada", calls: 2, inMs: 1000, burst: 1 },
  ];
  const order: string[] = [];
  const workspace = createWorkspace({ tools: [named(order)], rates });
  const who = ["Ada", "Ada", "Bob", "Eve"];

  await Promise.all(who.map((user, index) => workspace.call("name", { who: `${user} ${index}` }, { user })));

  expect(order).toEqual(["Ada 0", "Bob 2", "Eve 3", "Ada 1"]);
});

test("a call waits for a limit that has no room for longer than a timer can wait", async () => {
  const store = memoryStore();
  let looks = 0;
  const kv = { ...store.kv, get: (key: string) => ((looks += 1), store.kv.get(key)) };
  const limits: ToolLimits = { rate: { calls: 1, inMs: 2 ** 40, burst: 1 } };
  const workspace = createWorkspace({ tools: [echo("echo", limits)], store: { ...store, kv } });
  await workspace.call("echo");
  const controller = new AbortController();
  const waiting = workspace.call("echo", {}, { limitMs: Infinity, signal: controller.signal });
  await new Promise((resolve) => setTimeout(resolve, 50));
  controller.abort();

  expect(codeOf(await waiting)).toBe("call-cancelled");
  expect(looks).toBe(3);
});

test("users take turns when calls wait for a place, and higher priorities go first", async () => {
  const order: string[] = [];
  const workspace = createWorkspace({ tools: [named(order)], limits: { maxConcurrent: 1 } });
  const who = ["Ada", "Ada", "Ada", "Bob", "Bob"];
  const calls = who.map((user, index) => workspace.call("name", { who: `${user} ${index}` }, { user }));
  calls.push(
    workspace.call("name", { who: "later" }, { priority: -1 }),
    workspace.call("name", { who: "urgent" }, { priority: 1 }),
  );

  await Promise.all(calls);

  expect(order).toEqual(["Ada 0", "urgent", "Ada 1", "Bob 3", "Ada 2", "Bob 4", "later"]);
});

test("a call is refused at once when too many wait", async () => {
  const workspace = createWorkspace({ tools: [named([])], limits: { maxConcurrent: 1, maxWaiting: 1 } });

  const outcomes = await Promise.all([1, 2, 3].map(() => workspace.call("name", { who: "a" })));

  expect(outcomes.map(codeOf)).toEqual(["ok", "ok", "limit-reached"]);
  expect(outcomes[2]).toMatchObject({ error: { details: { rate: "1 call in line" } } });
});

test.for<[what: string, rates: unknown]>([
  ["that are no list", 5],
  ["without a subject", [{ calls: 1, inMs: 1 }]],
  ["without a number", [{ per: "tool", inMs: 1 }]],
  ["with an unknown subject", [{ per: "day", calls: 1, inMs: 1 }]],
  ["with a wrong number", [{ per: "tool", calls: 0, inMs: 1 }]],
  ["with a wrong burst", [{ per: "tool", calls: 1, inMs: 1, burst: 0.5 }]],
  ["with a wrong name", [{ per: "tool", calls: 1, inMs: 1, of: 5 }]],
  ["with an unknown word", [{ per: "tool", calls: 1, inMs: 1, ms: 5 }]],
  ["that are nothing", [null]],
])("createWorkspace() refuses rates %s", ([, rates]) => {
  expect(() => createWorkspace({ rates: rates as RateLimit[] })).toThrow(/rates/u);
});

test.for<[what: string, rate: unknown]>([
  ["no object", 5],
  ["incomplete", { calls: 1 }],
  ["with a wrong number", { calls: 1, inMs: -1 }],
  ["with an unknown word", { calls: 1, inMs: 1, per: "user" }],
])("defineTool() refuses a rate that is %s", ([, rate]) => {
  expect(() => echo("echo", { rate: rate as never })).toThrow(/limits\.rate/u);
});

test.for<CallOptions>([{ priority: 101 }, { priority: 0.5 }, { onLimit: "no" as never }])(
  "a call refuses the options %j",
  async (options) => {
    expect(await createWorkspace({ tools: [echo()] }).call("echo", {}, options)).toMatchObject({
      error: { code: "option-invalid" },
    });
  },
);

function echo(name = "echo", limits: ToolLimits = {}): Tool {
  return defineTool({ name, description: "Answers", limits, run: () => "ok" });
}

function named(order: string[]): Tool {
  return defineTool({
    name: "name",
    description: "Notes who called",
    input: { type: "object", properties: { who: { type: "string" } }, required: ["who"] },
    run: async ({ who }) => {
      order.push(String(who));
      await new Promise((resolve) => setTimeout(resolve, 2));
    },
  });
}

function codeOf(outcome: ToolOutcome): string {
  return outcome.status === "ok" ? "ok" : outcome.error.code;
}

async function codesOf(times: readonly number[], call: () => Promise<ToolOutcome>): Promise<string[]> {
  const codes: string[] = [];
  for (const _ of times) codes.push(codeOf(await call()));
  return codes;
}

function retryAfter(outcome: ToolOutcome): number {
  const details = outcome.status === "failed" ? outcome.error.details : {};
  return (details as { retryAfterMs?: number }).retryAfterMs ?? 0;
}
