import { expect, test, vi } from "vitest";

import { defineSkill } from "../../core/define-skill.ts";
import { defineTool } from "../../core/define-tool.ts";
import type { CallEvent } from "../../core/events.ts";
import type { ToolOutcome } from "../../core/outcome.ts";
import { injected, type Tool, type ToolAnnotations, type ToolLimits } from "../../core/tool.ts";
import { memoryStore } from "../../store/memory-store.ts";
import { createWorkspace } from "../create-workspace.ts";
import { openDeadLetters } from "../failures/dead-letters.ts";
import type { WorkspaceOptions } from "../workspace.ts";

const quick = { times: 2, minMs: 1, maxMs: 2 };

test.for<[what: string, annotations: ToolAnnotations, runs: number]>([
  ["is idempotent", { idempotent: true }, 3],
  ["is read-only", { readOnly: true }, 3],
  ["says nothing: it is not tried again", {}, 1],
])("a tool that fails is tried again if it %s", async ([, annotations, expected]) => {
  const { tool, runs } = failing({ annotations, failures: Infinity });
  const workspace = createWorkspace({ tools: [tool], retries: quick });

  expect(await workspace.call("work")).toMatchObject({ error: { code: "tool-failed" } });
  expect(runs()).toBe(expected);
});

test("a tool that succeeds when it is tried again has succeeded, and events tell each try", async () => {
  const { tool } = failing({ failures: 2 });
  const workspace = createWorkspace({ tools: [tool], retries: quick });
  const events: CallEvent[] = [];

  const outcome = await workspace.call("work", {}, { onEvent: (event) => events.push(event) });

  expect(outcome).toEqual({ status: "ok", output: "run 3" });
  expect(events.filter(({ type }) => type === "call-retry")).toMatchObject([{ attempt: 2 }, { attempt: 3 }]);
});

test("a tool says how often it is tried again", async () => {
  const { tool, runs } = failing({ failures: Infinity, limits: { retries: 1 } });
  const never = failing({ name: "never", failures: Infinity, limits: { retries: 0 } });
  const workspace = createWorkspace({ tools: [tool, never.tool], retries: quick });
  await workspace.call("work");
  await workspace.call("never");

  expect([runs(), never.runs()]).toEqual([2, 1]);
});

test("a call that is cancelled or over while it pauses is not tried again", async () => {
  const { tool, runs } = failing({ failures: Infinity });
  const workspace = createWorkspace({ tools: [tool], retries: { times: 5, minMs: 10_000 } });

  const outcome = await workspace.call("work", {}, { limitMs: 30 });

  expect(outcome).toMatchObject({ error: { code: "tool-failed" } });
  expect(runs()).toBe(1);
});

test("a wrong input is not tried again", async () => {
  const { tool, runs } = failing({ failures: 1 });
  const workspace = createWorkspace({ tools: [tool], retries: quick });

  expect(await workspace.call("work", { no: 1 })).toMatchObject({ error: { code: "input-invalid" } });
  expect(runs()).toBe(0);
});

test("a tool that fails too often is taken out with a notice, and comes back by itself", async () => {
  const { tool, runs } = failing({ failures: 3, annotations: {} });
  const workspace = createWorkspace({ tools: [tool], breaker: { failures: 3, openMs: 60 } });
  const events: CallEvent[] = [];
  const changes: string[] = [];
  workspace.onEvent((event) => events.push(event));
  workspace.onChange(({ added, removed }) => changes.push(`+${added.length} -${removed.length}`));
  const codes = await codesOf(4, () => workspace.call("work"));
  const whileBroken = workspace.isToolAvailable("work");
  await new Promise((resolve) => setTimeout(resolve, 100));
  const back = workspace.isToolAvailable("work");
  const after = await workspace.call("work");

  expect(codes).toEqual(["tool-failed", "tool-failed", "tool-failed", "tool-broken"]);
  expect([whileBroken, back]).toEqual([false, true]);
  expect(after).toMatchObject({ status: "ok" });
  expect(runs()).toBe(4);
  expect(changes).toEqual(["+0 -1", "+1 -0"]);
  const notices = events.filter(({ type }) => type === "tool-broken" || type === "tool-mended");
  expect(notices).toMatchObject([{ type: "tool-broken", tool: "work", failures: 3 }, { type: "tool-mended" }]);
});

test("a tool of a closed skill stays out when it is mended", async () => {
  const { tool } = failing({ failures: 1, annotations: {} });
  const skill = defineSkill({ name: "talk", description: "Talks", tools: [tool] });
  const workspace = createWorkspace({ skills: [skill], breaker: { failures: 1, openMs: 20 } });
  await workspace.activateSkill("talk");
  await workspace.call("talk/work");
  await workspace.deactivateSkill("talk");
  await new Promise((resolve) => setTimeout(resolve, 50));

  expect(workspace.isToolAvailable("talk/work")).toBe(false);
});

test("a tool that still fails when it is let back in is taken out at once", async () => {
  const { tool, runs } = failing({ failures: Infinity, annotations: {} });
  const workspace = createWorkspace({ tools: [tool], breaker: { failures: 2, openMs: 40 } });
  await codesOf(2, () => workspace.call("work"));
  await new Promise((resolve) => setTimeout(resolve, 80));

  expect(await codesOf(2, () => workspace.call("work"))).toEqual(["tool-failed", "tool-broken"]);
  expect(runs()).toBe(3);
});

test("calls that run when their tool breaks finish, and those that try it when it is let back in wait for the first", async () => {
  const { tool } = failing({ failures: 3, annotations: {}, pauseMs: 20 });
  const workspace = createWorkspace({ tools: [tool], breaker: { failures: 2, openMs: 60 } });
  const first = await Promise.all([1, 2, 3].map(() => workspace.call("work")));
  await new Promise((resolve) => setTimeout(resolve, 100));
  const second = await Promise.all([1, 2, 3].map(() => workspace.call("work")));

  expect(first.map(codeOf)).toEqual(["tool-failed", "tool-failed", "tool-failed"]);
  expect(second.map(codeOf)).toEqual(["ok", "ok", "ok"]);
});

test("a call that waited while its tool broke fails, and does not run", async () => {
  const { tool, runs } = failing({ failures: Infinity, annotations: {} });
  const workspace = createWorkspace({ tools: [tool], breaker: { failures: 1 }, limits: { maxConcurrent: 1 } });

  const outcomes = await Promise.all([workspace.call("work"), workspace.call("work")]);

  expect(outcomes.map(codeOf)).toEqual(["tool-failed", "tool-broken"]);
  expect(runs()).toBe(1);
});

test("another tool in the place of a broken one is not broken", async () => {
  const { tool } = failing({ failures: Infinity, annotations: {} });
  const workspace = createWorkspace({ tools: [tool], breaker: { failures: 1 } });
  await workspace.call("work");
  workspace.replace(failing({ failures: 0 }).tool);

  expect(await workspace.call("work")).toMatchObject({ status: "ok" });
});

test("failures that are the caller's do not break a tool", async () => {
  const { tool } = failing({ failures: 0, annotations: {} });
  const workspace = createWorkspace({ tools: [tool], breaker: { failures: 1 } });
  await workspace.call("work", { no: 1 });
  await workspace.call("work", {}, { signal: AbortSignal.abort() });

  expect(await workspace.call("work")).toMatchObject({ status: "ok" });
});

test("a tool is not broken because callers give it too little time, or values for it cannot be made", async () => {
  const { tool } = failing({ failures: 0, annotations: {}, pauseMs: 30 });
  const needy = defineTool({
    name: "needy",
    description: "Needs",
    inject: { key: injected<string>() },
    run: () => "ok",
  });
  let isDown = true;
  const workspace = createWorkspace({
    tools: [tool, needy],
    breaker: { failures: 1 },
    injected: () => (isDown ? fail("no database") : { key: "value" }),
  });
  const first = [await workspace.call("work", {}, { limitMs: 5 }), await workspace.call("needy")];
  isDown = false;

  expect(first.map(codeOf)).toEqual(["call-timeout", "tool-failed"]);
  expect(await workspace.call("work")).toMatchObject({ status: "ok" });
  expect(await workspace.call("needy")).toMatchObject({ status: "ok" });
});

test("a tool that does not answer in its time is broken, and failures that are the caller's do not mend it", async () => {
  const { tool } = failing({ failures: 0, annotations: {}, limits: { limitMs: 20 }, pauseMs: 60 });
  const workspace = createWorkspace({ tools: [tool], breaker: { failures: 2 } });
  const codes = [
    codeOf(await workspace.call("work")),
    codeOf(await workspace.call("work", {}, { limitMs: 2 })),
    codeOf(await workspace.call("work")),
    codeOf(await workspace.call("work")),
  ];

  expect(codes).toEqual(["call-timeout", "call-timeout", "call-timeout", "tool-broken"]);
});

test("a tool that breaks while several calls run is told to be broken, and mended, once", async () => {
  const { tool } = failing({ failures: 5, annotations: {}, pauseMs: 10 });
  const workspace = createWorkspace({ tools: [tool], breaker: { failures: 2, openMs: 20 } });
  const notices: string[] = [];
  workspace.onEvent(({ type }) => type.startsWith("tool-") && notices.push(type));
  await Promise.all([1, 2, 3, 4, 5].map(() => workspace.call("work")));
  await new Promise((resolve) => setTimeout(resolve, 60));
  await Promise.all([1, 2, 3].map(() => workspace.call("work")));

  expect(notices).toEqual(["tool-broken", "tool-mended"]);
});

test("a tool is told to be mended when a call has succeeded, and not when it is let back in", async () => {
  const { tool } = failing({ failures: 2, annotations: {} });
  const workspace = createWorkspace({ tools: [tool], breaker: { failures: 1, openMs: 20 } });
  const notices: string[] = [];
  workspace.onEvent(({ type }) => (type === "tool-broken" || type === "tool-mended") && notices.push(type));
  const codes: string[] = [];
  for (let time = 0; time < 3; time++) {
    codes.push(codeOf(await workspace.call("work")));
    await new Promise((resolve) => setTimeout(resolve, 50));
  }

  expect(codes).toEqual(["tool-failed", "tool-failed", "ok"]);
  expect(notices).toEqual(["tool-broken", "tool-broken", "tool-mended"]);
});

test("a tool that is in two places is taken out of both, and comes back to both", async () => {
  const { tool } = failing({ failures: 1, annotations: {} });
  const skills = ["one", "two"].map((name) => defineSkill({ name, description: "Talks", tools: [tool] }));
  const workspace = createWorkspace({ skills, breaker: { failures: 1, openMs: 40 } });
  await workspace.activateSkill("one");
  await workspace.activateSkill("two");
  const changes: string[] = [];
  workspace.onChange(({ added, removed }) => changes.push(`+${added.length} -${removed.length}`));
  await workspace.call("one/work");
  const whileBroken = workspace.getAvailableTools().length;
  await new Promise((resolve) => setTimeout(resolve, 80));

  expect([whileBroken, workspace.getAvailableTools().length]).toEqual([0, 2]);
  expect(changes).toEqual(["+0 -2", "+2 -0"]);
});

test("a call that waits until another has tried a broken tool keeps its own deadline, and does not run after it", async () => {
  const { tool, runs } = failing({ failures: 1, annotations: {}, pauseMs: 400 });
  const workspace = createWorkspace({ tools: [tool], breaker: { failures: 1, openMs: 20 } });
  await workspace.call("work");
  await new Promise((resolve) => setTimeout(resolve, 50));
  const trying = workspace.call("work");
  await new Promise((resolve) => setTimeout(resolve, 10));
  const winners: string[] = [];
  const waiting = workspace.call("work", {}, { limitMs: 15 });
  await Promise.all([waiting.then(() => winners.push("waiting")), trying.then(() => winners.push("trying"))]);
  await new Promise((resolve) => setTimeout(resolve, 10));

  expect(winners).toEqual(["waiting", "trying"]);
  expect([codeOf(await waiting), codeOf(await trying), runs()]).toEqual(["call-timeout", "ok", 2]);
});

test("a breaker may stay open for longer than a timer can wait", async () => {
  vi.useFakeTimers();
  try {
    const { tool } = failing({ failures: 1, annotations: {} });
    const workspace = createWorkspace({ tools: [tool], breaker: { failures: 1, openMs: 2 ** 33 } });
    await workspace.call("work");
    await vi.advanceTimersByTimeAsync(2 ** 33 - 1000);
    const before = workspace.isToolAvailable("work");
    await vi.advanceTimersByTimeAsync(2000);

    expect([before, workspace.isToolAvailable("work")]).toEqual([false, true]);
  } finally {
    vi.useRealTimers();
  }
});

test("a tool that breaks while it is tried again fails with what it said, and the call is kept", async () => {
  const { dead, workspace, runs } = setUp({
    failures: Infinity,
    options: { breaker: { failures: 2 }, retries: { ...quick, times: 5 } },
  });
  const events: string[] = [];

  const outcome = await workspace.call("work", {}, { onEvent: ({ type }) => events.push(type) });

  expect(outcome).toMatchObject({ error: { code: "tool-failed", details: { reason: "run 2" } } });
  expect(await dead.list()).toMatchObject([{ error: { code: "tool-failed" }, attempts: 2 }]);
  expect(runs()).toBe(2);
  expect(events.filter((type) => type === "call-retry")).toHaveLength(1);
});

test("a call whose tool another one breaks during its pause fails with what the tool said", async () => {
  const { tool, runs } = failing({ failures: Infinity });
  const workspace = createWorkspace({ tools: [tool], breaker: { failures: 2 }, retries: { times: 5, minMs: 20 } });

  const outcomes = await Promise.all([1, 2].map(() => workspace.call("work")));

  expect(outcomes.map(codeOf)).toEqual(["tool-failed", "tool-failed"]);
  expect(runs()).toBe(2);
});

test("a call that waits while another tries its broken tool in vain fails with what the tool said to it", async () => {
  const tool = defineTool({
    name: "work",
    description: "Fails after some time",
    input: { type: "object", properties: { ms: { type: "number" } } },
    annotations: { idempotent: true },
    run: async ({ ms }) => {
      await new Promise((resolve) => setTimeout(resolve, Number(ms)));
      fail(`after ${String(ms)}`);
    },
  });
  const workspace = createWorkspace({
    tools: [tool],
    breaker: { failures: 2, openMs: 20 },
    retries: { times: 1, minMs: 300, maxMs: 300 },
  });
  const first = workspace.call("work", { ms: 1 });
  await workspace.call("work", { ms: 10 });
  await new Promise((resolve) => setTimeout(resolve, 50));
  const trying = workspace.call("work", { ms: 500 });

  expect(await first).toMatchObject({ error: { code: "tool-failed", details: { reason: "after 1" } } });
  expect(await trying).toMatchObject({ error: { code: "tool-failed", details: { reason: "after 500" } } });
});

test("a middleware that crashes behind a breaker makes the call fail, and no more", async () => {
  const { tool } = failing({ failures: 0 });
  const workspace = createWorkspace({ tools: [tool], breaker: {} });
  workspace.use(() => fail("crashed"), { before: "run" });

  expect(await workspace.call("work")).toMatchObject({ error: { code: "middleware-failed" } });
});

test("a call that crashes behind a breaker has crashed, and no more", async () => {
  const { tool } = failing({ failures: 0 });
  const crashing = new Proxy(tool, {
    get(target, key, receiver) {
      if (key === "outputSchema") throw new Error("crashed");
      return Reflect.get(target, key, receiver) as unknown;
    },
  });

  const outcome = await createWorkspace({ tools: [crashing], breaker: {} }).call("work");

  expect(outcome).toMatchObject({ error: { code: "call-crashed", details: { reason: "crashed" } } });
});

test("a call that failed for good is kept with all that is needed to make it again", async () => {
  const { dead, workspace, store } = setUp({ failures: 4 });
  const options = { user: "Ada", idempotencyKey: "order-1" };
  const outcome = await workspace.call("work", { of: "a" }, options);
  const [letter] = await dead.list();

  expect(outcome).toMatchObject({ error: { code: "tool-failed" } });
  expect(letter).toMatchObject({
    tool: "work",
    digest: expect.stringMatching(/^sha256:/u) as string,
    input: { of: "a" },
    isRedacted: false,
    ...options,
    error: { code: "tool-failed" },
    attempts: 3,
  });
  expect(await openDeadLetters(store).get(letter?.id ?? "")).toEqual(letter);
});

test("retry() makes the call again as its user, with what that user may call then and now", async () => {
  const { workspace, store, ran, fail } = createLimited();
  await workspace.call("both", {}, { user: "Ada", scopes: new Set(["tools:of:global:both", "tools:of:global:look"]) });
  await workspace.call("both", {}, { user: "Bob" });
  const dead = openDeadLetters(store);
  const [ada = "", bob = ""] = (await dead.list()).map(({ id }) => id);
  fail.isOn = false;
  const users = new Set<string | undefined>();
  workspace.onEvent((event) => event.type === "call-start" && users.add(event.user));
  const wide = { user: "Root", scopes: "all", refuse: () => undefined } as object;

  await dead.retry(workspace, ada, { ...wide, scopesOf: () => "all" });
  const then = ran.splice(0);
  await dead.retry(workspace, bob, {
    ...wide,
    scopesOf: () => new Set(["tools:of:global:both", "tools:of:global:drop"]),
  });

  expect(then).toEqual(["both", "look"]);
  expect(ran).toEqual(["both", "drop"]);
  expect(users).toEqual(new Set(["Ada", "Bob"]));
});

test("retry() makes no call for a user who has no access any more, or of whom nothing is known", async () => {
  const { workspace, store, ran, fail } = createLimited();
  await workspace.call("both", {}, { user: "Ada" });
  const dead = openDeadLetters(store);
  const [id = ""] = (await dead.list()).map((letter) => letter.id);
  fail.isOn = false;

  const gone = await dead.retry(workspace, id, { scopesOf: () => new Set() });
  const unknown = dead.retry(workspace, id, { scopesOf: () => undefined });

  expect(gone).toMatchObject({ error: { code: "scope-missing" } });
  await expect(unknown).rejects.toMatchObject({ code: "user-unknown", details: { user: "Ada" } });
  expect(ran).toEqual([]);
  expect(await dead.list()).toMatchObject([{ id, user: "Ada" }]);
});

test("retry() of a call whose caller a function held back calls nothing that cannot be proved", async () => {
  const { workspace, store, ran, fail } = createLimited();
  await workspace.call("both", {}, { refuse: () => undefined });
  const dead = openDeadLetters(store);
  const [id = ""] = (await dead.list()).map((letter) => letter.id);
  fail.isOn = false;

  expect(await dead.retry(workspace, id)).toMatchObject({ error: { code: "scope-missing" } });
  expect(ran).toEqual([]);
});

test("retry() makes the call again, and forgets it when it is done", async () => {
  const { dead, workspace, runs } = setUp({ failures: 4 });
  await workspace.call("work", { of: "a" }, { user: "Ada", idempotencyKey: "order-1" });
  const users: unknown[] = [];
  const [letter] = await dead.list();

  const outcome = await dead.retry(workspace, letter?.id ?? "", {
    onEvent: (event) => event.type === "call-start" && users.push(event.user),
  });

  expect(outcome).toEqual({ status: "ok", output: "run 5" });
  expect(await dead.list()).toEqual([]);
  expect([runs(), users]).toEqual([5, ["Ada"]]);
});

test("retry() of a call that fails again leaves one letter with the new error", async () => {
  const { dead, workspace, store, tool } = setUp({ failures: Infinity });
  await workspace.call("work", { of: "a" });
  const [first] = await dead.list();
  await dead.retry(workspace, first?.id ?? "");
  const [second, ...others] = await dead.list();
  await dead.retry(createWorkspace({ tools: [tool], store }), second?.id ?? "", { input: { of: "b" } });
  const [third] = await dead.list();

  expect(others).toEqual([]);
  expect([first, second, third].map((letter) => letter?.attempts)).toEqual([3, 6, 7]);
  expect(third?.id).toBe(second?.id);
  expect(JSON.stringify(third?.error)).toContain("run 7");
});

test("retry() brings no letter back that somebody drops at once", async () => {
  const { dead, workspace } = setUp({ failures: Infinity });
  await workspace.call("work");
  const [letter] = await dead.list();

  const outcome = await dead.retry(workspace, letter?.id ?? "", {
    onEvent: (event) => event.type === "call-kept" && void dead.drop(event.letter),
  });

  expect(outcome.status).toBe("failed");
  expect(await dead.list()).toEqual([]);
});

test("R19: the error of a call that is kept has nothing in it that looks like a secret; its input is what it takes to make it again", async () => {
  const store = memoryStore();
  const tool = defineTool({
    name: "work",
    description: "Says too much",
    input: { type: "object", properties: { to: { type: "string" } } },
    run: ({ to }) => fail(`${String(to)} is away`),
  });
  const dead = openDeadLetters(store);
  await createWorkspace({ tools: [tool], store, keepFailed: true }).call("work", { to: "ada@example.com" });
  const [first] = await dead.list();
  await dead.retry(createWorkspace({ tools: [tool] }), first?.id ?? "");
  const [second] = await dead.list();

  for (const letter of [first, second]) {
    expect(letter).toMatchObject({ input: { to: "ada@example.com" }, error: { code: "tool-failed" } });
    expect(JSON.stringify(letter?.error)).toContain("[email] is away");
    expect(JSON.stringify(letter?.error)).not.toContain("ada@example.com");
  }
});

test("the error of a call is kept as it is if records are", async () => {
  const { dead, workspace } = setUp({ failures: Infinity, options: { redaction: { records: false } } });
  await workspace.call("work");
  const [letter] = await dead.list();

  expect(letter?.error.message).toContain("run 3");
});

test("retry() needs another input if secrets were taken out of the one that is kept", async () => {
  const { dead, workspace } = setUp({ failures: 3, options: { secrets: { KEY: "hunter22" } } });
  await workspace.call("work", { of: "hunter22" }, { idempotencyKey: "order-1" });
  const [letter] = await dead.list();
  const id = letter?.id ?? "";

  expect(letter).toMatchObject({ input: { of: "[KEY]" }, isRedacted: true });
  await expect(dead.retry(workspace, id)).rejects.toMatchObject({ code: "option-invalid" });
  expect(await dead.retry(workspace, id, { input: { of: "x" } })).toMatchObject({ status: "ok" });
});

test("a key with a secret in it is not kept with the call", async () => {
  const { dead, workspace } = setUp({ failures: 3, options: { secrets: { KEY: "hunter22" } } });
  await workspace.call("work", { of: "a" }, { idempotencyKey: "order-hunter22" });
  const [letter] = await dead.list();

  expect(JSON.stringify(letter)).not.toContain("hunter22");
  expect(letter).not.toHaveProperty("idempotencyKey");
  expect(await dead.retry(workspace, letter?.id ?? "")).toMatchObject({ status: "ok" });
});

test("drop() and get() say when there is no such letter, and list() goes on after one", async () => {
  const { dead, workspace } = setUp({ failures: Infinity });
  for (const of of ["a", "b", "c"]) await workspace.call("work", { of });
  const [first] = await dead.list({ limit: 1 });
  const rest = await dead.list({ after: first?.id ?? "" });

  expect(rest.map(({ input }) => input)).toEqual([{ of: "b" }, { of: "c" }]);
  expect([await dead.drop(first?.id ?? ""), await dead.drop(first?.id ?? "")]).toEqual([true, false]);
  await expect(dead.get("__proto__")).rejects.toMatchObject({ code: "dead-letter-missing" });
  await expect(dead.retry(workspace, "x")).rejects.toMatchObject({ code: "dead-letter-missing" });
});

test("calls that were refused, are inside a call, or did their work are not kept", async () => {
  const { dead, workspace } = setUp({ failures: Infinity });
  workspace.add(defineTool({ name: "outer", description: "Calls", run: (_input, { call }) => call("work") }));
  workspace.add(defineTool({ name: "fine", description: "Works", run: () => "ok" }));
  await workspace.call("outer");
  await workspace.call("fine");
  await workspace.call("work", { no: 1 });
  await workspace.call("nothing");

  expect(await dead.list()).toEqual([]);
});

test("a call that cannot be kept says so, and why it failed", async () => {
  const store = memoryStore();
  const kv = { ...store.kv, set: () => Promise.reject(new Error("the disk is full")) };
  const { tool } = failing({ failures: Infinity });
  const workspace = createWorkspace({ tools: [tool], store: { ...store, kv }, keepFailed: true });

  const outcome = await workspace.call("work");

  expect(outcome).toMatchObject({ error: { code: "store-failed", details: { ran: true } } });
  expect(JSON.stringify(outcome)).toMatch(/the disk is full.*run 1/u);
});

test.for<WorkspaceOptions>([
  { retries: { times: -1 } },
  { retries: { minMs: 0 } },
  { retries: { time: 1 } as never },
  { breaker: { failures: 0 } },
  { breaker: true as never },
  { keepFailed: "yes" as never },
])("createWorkspace() refuses %j", (options) => {
  expect(() => createWorkspace(options)).toThrow(/^Cannot use "/u);
});

test("defineTool() refuses retries of a tool that may not be run twice", () => {
  expect(() => failing({ annotations: {}, limits: { retries: 1 }, failures: 0 })).toThrow(/limits\.retries/u);
  expect(() => failing({ limits: { retries: 11 }, failures: 0 })).toThrow(/limits\.retries/u);
});

test("retry() runs a call again whose key was used up by its failure", async () => {
  const store = memoryStore();
  const { tool, runs } = failing({ failures: 1, annotations: {}, pauseMs: 5 });
  const workspace = createWorkspace({ tools: [tool], store, keepFailed: true });
  await workspace.call("work", { of: "a" }, { user: "Ada", idempotencyKey: "order-1" });
  const dead = openDeadLetters(store);
  const [letter] = await dead.list();

  expect(await dead.retry(workspace, letter?.id ?? "")).toMatchObject({ output: "run 2" });
  expect([runs(), await dead.list()]).toEqual([2, []]);
});

test("retry() runs a call once if two ask for it, and tells the other one; after it the letter is free again", async () => {
  const store = memoryStore();
  const { tool, runs } = failing({ failures: 2, annotations: {}, pauseMs: 5 });
  const workspace = createWorkspace({ tools: [tool], store, keepFailed: true });
  await workspace.call("work", { of: "a" });
  const [letter] = await openDeadLetters(store).list();
  const retry = (): Promise<ToolOutcome> =>
    openDeadLetters(store).retry(createWorkspace({ tools: [tool], store }), letter?.id ?? "");

  const [first, second] = await Promise.allSettled([retry(), retry()]);
  const third = await retry();
  const fourth = retry();

  expect(first).toMatchObject({ value: { status: "failed" } });
  expect(second).toMatchObject({ reason: { code: "dead-letter-busy" } });
  expect(third).toMatchObject({ output: "run 3" });
  await expect(fourth).rejects.toMatchObject({ code: "dead-letter-missing" });
  expect(runs()).toBe(3);
});

test("retry() keeps others out as long as it takes, and no longer than 15 s after its process vanished", async () => {
  vi.useFakeTimers();
  try {
    const store = memoryStore({ now: Date.now });
    const { tool } = failing({ failures: 1 });
    const workspace = createWorkspace({ tools: [tool], store, keepFailed: true });
    await workspace.call("work");
    const [letter] = await openDeadLetters(store).list();
    const id = letter?.id ?? "";
    let isThere = true;
    const set: typeof store.kv.set = (...given) =>
      isThere ? store.kv.set(...given) : Promise.reject(new Error("gone"));
    const hangs = { call: () => new Promise<never>(() => undefined) };
    void openDeadLetters({ kv: { ...store.kv, set } }).retry(hangs, id);
    await vi.advanceTimersByTimeAsync(600_000);
    await expect(openDeadLetters(store).retry(workspace, id)).rejects.toMatchObject({ code: "dead-letter-busy" });
    isThere = false;
    await vi.advanceTimersByTimeAsync(15_001);

    expect(await openDeadLetters(store).retry(workspace, id)).toMatchObject({ output: "run 2" });
  } finally {
    vi.useRealTimers();
  }
});

test("retry() does not run a call again that was done in the meantime", async () => {
  const store = memoryStore();
  const { tool, runs } = failing({ failures: 1 });
  const workspace = createWorkspace({ tools: [tool], store, keepFailed: true });
  const options = { idempotencyKey: "order-1" };
  await workspace.call("work", { of: "a" }, options);
  await workspace.call("work", { of: "a" }, options);
  const dead = openDeadLetters(store);
  const [letter] = await dead.list();

  expect(await dead.retry(workspace, letter?.id ?? "")).toMatchObject({ output: "run 2", recalled: "key" });
  expect(runs()).toBe(2);
});

test("retry() does not bring back a letter that was dropped while it failed again", async () => {
  const { dead, workspace, store, tool } = setUp({ failures: Infinity });
  await workspace.call("work", { of: "a" });
  const [letter] = await dead.list();
  const id = letter?.id ?? "";
  const again = dead.retry(createWorkspace({ tools: [tool], store }), id, {
    onEvent: ({ type }) => type === "call-start" && void dead.drop(id),
  });

  expect(await again).toMatchObject({ status: "failed" });
  expect(await dead.list()).toEqual([]);
});

test.for<[broken: "set" | "delete", prefix: string]>([
  ["set", "dead-claim:"],
  ["set", "dead:"],
  ["delete", "once:"],
])("retry() rejects when the store fails at a %s of %s", async ([broken, prefix]) => {
  const store = memoryStore();
  const { tool } = failing({ failures: Infinity, annotations: {} });
  const workspace = createWorkspace({ tools: [tool], store, keepFailed: true });
  await workspace.call("work", { of: "a" }, { idempotencyKey: "order-1" });
  const [letter] = await openDeadLetters(store).list();
  const write = store.kv[broken] as (key: string, ...rest: unknown[]) => Promise<unknown>;
  const writeOrFail: typeof write = (key, ...rest) =>
    key.startsWith(prefix) ? Promise.reject(new Error("disk full")) : write(key, ...rest);
  const kv = { ...store.kv, [broken]: writeOrFail };
  const caller = createWorkspace({ tools: [tool], store });

  await expect(openDeadLetters({ kv }).retry(caller, letter?.id ?? "")).rejects.toThrow("disk full");
});

interface FailingParts {
  readonly name?: string;
  /** So many runs fail. */
  readonly failures: number;
  readonly annotations?: ToolAnnotations;
  readonly limits?: ToolLimits;
  readonly pauseMs?: number;
}

function failing(parts: FailingParts): { tool: Tool; runs: () => number } {
  const { name = "work", failures, annotations = { idempotent: true }, limits = {}, pauseMs } = parts;
  let runs = 0;
  const tool = defineTool({
    name,
    description: "Works, after some time",
    input: { type: "object", properties: { of: { type: "string" } }, additionalProperties: false },
    annotations,
    limits,
    run: async () => {
      runs += 1;
      const run = runs;
      if (pauseMs !== undefined) await new Promise((resolve) => setTimeout(resolve, pauseMs));
      return run <= failures ? fail(`run ${run}`) : `run ${run}`;
    },
  });
  return { tool, runs: () => runs };
}

function setUp({ failures, options = {} }: { failures: number; options?: WorkspaceOptions }): {
  dead: ReturnType<typeof openDeadLetters>;
  workspace: ReturnType<typeof createWorkspace>;
  store: ReturnType<typeof memoryStore>;
  tool: Tool;
  runs: () => number;
} {
  const store = memoryStore();
  const { tool, runs } = failing({ failures });
  const workspace = createWorkspace({ tools: [tool], store, keepFailed: true, retries: quick, ...options });
  return { dead: openDeadLetters(store), workspace, store, tool, runs };
}

function codeOf(outcome: ToolOutcome): string {
  return outcome.status === "ok" ? "ok" : outcome.error.code;
}

async function codesOf(times: number, call: () => Promise<ToolOutcome>): Promise<string[]> {
  const codes: string[] = [];
  for (let time = 0; time < times; time++) codes.push(codeOf(await call()));
  return codes;
}

function fail(reason: string): never {
  throw new Error(reason);
}

/** A tool that fails at first, and then calls two others. */
function createLimited() {
  const ran: string[] = [];
  const fail = { isOn: true };
  const tools = ["look", "drop", "both"].map((name) =>
    defineTool({
      name,
      description: "Does something",
      async run(_input, { call }) {
        if (fail.isOn) throw new Error("the line is down");
        ran.push(name);
        if (name === "both") for (const other of ["look", "drop"]) await call(other);
        return null;
      },
    }),
  );
  const store = memoryStore();
  return { workspace: createWorkspace({ tools, store, keepFailed: true }), store, ran, fail };
}
