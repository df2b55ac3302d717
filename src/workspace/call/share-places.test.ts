import { expect, test } from "vitest";

import { defineTool } from "../../core/define-tool.ts";
import type { ToolOutcome } from "../../core/outcome.ts";
import type { KeyValueStore } from "../../core/store.ts";
import type { Tool } from "../../core/tool.ts";
import { memoryStore } from "../../store/memory-store.ts";
import { createWorkspace } from "../create-workspace.ts";
import type { WorkspaceLimits } from "../options/limits.ts";

test("the places of a tool are counted together by all who share a store", async () => {
  const store = memoryStore();
  const { tool, most } = slow({ maxConcurrent: 2 });
  const workspaces = [1, 2, 3].map(() => createWorkspace({ tools: [tool], store }));

  const outcomes = await Promise.all(
    workspaces.flatMap((workspace) => Array.from({ length: 5 }, () => workspace.call("slow"))),
  );

  expect(outcomes.map(({ status }) => status)).toEqual(Array(15).fill("ok"));
  expect(most()).toBe(2);
  await expect.poll(() => store.kv.list()).toEqual([]);
});

test("calls of a workspace are counted together if it says how many may run", async () => {
  const store = memoryStore();
  const { tool, most } = slow({});
  const limits = { maxTogether: 3 };
  const workspaces = [1, 2].map(() => createWorkspace({ tools: [tool], store, limits }));

  const outcomes = await Promise.all(
    workspaces.flatMap((workspace) => Array.from({ length: 6 }, () => workspace.call("slow"))),
  );

  expect(outcomes.map(({ status }) => status)).toEqual(Array(12).fill("ok"));
  expect(most()).toBe(3);
});

test("without a store they are counted, too", async () => {
  const { tool, most } = slow({});
  const workspace = createWorkspace({ tools: [tool], limits: { maxTogether: 2 } });
  await Promise.all([1, 2, 3, 4, 5].map(() => workspace.call("slow")));

  expect(most()).toBe(2);
});

test("a call that finds no place in all processes fails with when to retry, if it must not wait, and at its deadline", async () => {
  const { one, two, end } = await setUp({});
  const outcomes = [await two.call("slow", {}, { onLimit: "fail" }), await two.call("slow", {}, { limitMs: 60 })];
  end();

  for (const outcome of outcomes) {
    expect(outcome).toMatchObject({
      error: { code: "limit-reached", details: { rate: "1 call at once per tool", retryAfterMs: 1000 } },
    });
  }
  expect(await one).toMatchObject({ status: "ok" });
});

test("the limit of all calls is told by its own name", async () => {
  const { two, end } = await setUp({ limits: { maxTogether: 1 }, maxConcurrent: undefined });
  const outcome = await two.call("slow", {}, { onLimit: "fail" });
  end();

  expect(outcome).toMatchObject({ error: { details: { rate: "1 call at once" } } });
});

test("a call that waits for a place in all processes ends when it is cancelled", async () => {
  const { two, end } = await setUp({});
  const controller = new AbortController();
  const waiting = two.call("slow", {}, { signal: controller.signal });
  setTimeout(() => controller.abort(), 20);

  expect(await waiting).toMatchObject({ error: { code: "call-cancelled" } });
  end();
});

test("a call that gets one of its places and not the other gives it back", async () => {
  const { two, end } = await setUp({ limits: { maxTogether: 2 } });
  const refused = await two.call("slow", {}, { onLimit: "fail" });
  const other = await two.call("other", {}, { onLimit: "fail" });
  end();

  expect(refused).toMatchObject({ error: { details: { rate: "1 call at once per tool" } } });
  expect(other).toMatchObject({ status: "ok" });
});

test("calls wait for places of all processes by priority, and users take turns", async () => {
  const order: string[] = [];
  const tool = defineTool({
    name: "note",
    description: "Notes who calls",
    input: { type: "object", properties: { who: { type: "string" } } },
    run: async ({ who }) => {
      await new Promise((resolve) => setTimeout(resolve, 5));
      order.push(String(who));
    },
  });
  const workspace = createWorkspace({ tools: [tool], store: memoryStore(), limits: { maxTogether: 1 } });
  const call = (user: string, priority = 0): Promise<unknown> =>
    workspace.call("note", { who: user }, { user, priority });
  await Promise.all([call("ada"), call("ada"), call("ada"), call("bob"), call("urgent", 100)]);

  // The last one came before anybody had a place.
  expect(order).toEqual(["urgent", "ada", "bob", "ada", "ada"]);
});

test("calls that wait for a place of their tool take none from others", async () => {
  for (const limits of [{ maxConcurrent: 2 }, { maxTogether: 3 }]) {
    const { two, end } = await setUp({ limits });
    const waiting = [two.call("slow"), two.call("slow")];
    await new Promise((resolve) => setTimeout(resolve, 20));
    const quick = await two.call("other", {}, { onLimit: "fail" });
    end();

    expect(quick).toMatchObject({ status: "ok" });
    await Promise.all(waiting);
  }
});

test("a place that is free is had at once by whoever must not wait, also if others wait for more", async () => {
  const store = memoryStore();
  const { tool } = slow({ maxConcurrent: 1 });
  const workspaces = [1, 2].map(() => createWorkspace({ tools: [tool], store }));
  for (const workspace of [...workspaces, ...workspaces]) {
    expect(await workspace.call("slow", {}, { onLimit: "fail" })).toMatchObject({ status: "ok" });
  }
});

test("calls that wait fail when the store does", async () => {
  for (const limits of [{}, { maxTogether: 1 }]) {
    const store = memoryStore();
    const { tool } = slow({ ...(limits.maxTogether === undefined && { maxConcurrent: 1 }) });
    const list: KeyValueStore["list"] = () => Promise.reject(new Error("gone"));
    const broken = createWorkspace({ tools: [tool], store: { ...store, kv: { ...store.kv, list } }, limits });
    const other = createWorkspace({ tools: [tool], store, limits });
    const running = other.call("slow");
    await new Promise(setImmediate);

    for (const onLimit of ["wait", "fail"] as const) {
      expect(await broken.call("slow", {}, { onLimit })).toMatchObject({
        error: { code: "store-failed", details: { reason: "gone", ran: false } },
      });
    }
    await running;
  }
});

test("calls inside calls take no place of all calls, and none of a tool that they are in", async () => {
  const store = memoryStore();
  const again = defineTool({
    name: "again",
    description: "Calls itself, and another",
    limits: { maxConcurrent: 1 },
    input: { type: "object", properties: { depth: { type: "integer" } } },
    run: async ({ depth }, { call }) =>
      depth === 0 ? "deep" : [await call("again", { depth: 0 }), await call("other")].map(({ status }) => status),
  });
  const workspace = createWorkspace({ tools: [again, other], store, limits: { maxTogether: 1 } });

  expect(await workspace.call("again", { depth: 1 })).toMatchObject({ output: ["ok", "ok"] });
});

test("a call inside a call that finds no place of its tool does not wait if the outer one must not", async () => {
  const { tool } = slow({ maxConcurrent: 1 });
  const outer = defineTool({
    name: "outer",
    description: "Calls slow",
    run: async (_input, { call }) => {
      const outcome = await call("slow");
      return outcome.status === "ok" ? "ok" : outcome.error.code;
    },
  });
  const workspace = createWorkspace({ tools: [tool, outer], store: memoryStore() });
  const running = workspace.call("slow");
  await new Promise(setImmediate);

  expect(await workspace.call("outer", {}, { onLimit: "fail" })).toMatchObject({ output: "limit-reached" });
  await running;
  expect(await workspace.call("outer", {}, { onLimit: "fail" })).toMatchObject({ output: "ok" });
});

test("a tool that is replaced while it runs has as many places as the new one says", async () => {
  const { tool, most } = slow({ maxConcurrent: 1 });
  const workspace = createWorkspace({ tools: [tool], store: memoryStore() });
  const running = workspace.call("slow");
  await new Promise(setImmediate);
  workspace.replace({ ...tool, limits: { maxConcurrent: 3 } });
  await Promise.all([running, ...[1, 2, 3].map(() => workspace.call("slow"))]);

  expect(most()).toBe(3);
});

test("a call whose place cannot be taken fails, and says that nothing ran", async () => {
  const store = memoryStore();
  const { tool, most } = slow({ maxConcurrent: 1 });
  const broken = { ...store, kv: { ...store.kv, set: () => Promise.reject(new Error("disk full")) } };

  expect(await createWorkspace({ tools: [tool], store: broken }).call("slow")).toMatchObject({
    error: { code: "store-failed", details: { reason: "disk full", ran: false } },
  });
  expect(most()).toBe(0);
});

test("a tool without a limit asks the store for no place", async () => {
  const { kv, ...store } = memoryStore();
  const keys: string[] = [];
  const set: KeyValueStore["set"] = (key, ...rest) => (keys.push(key), kv.set(key, ...rest));
  await createWorkspace({ tools: [other], store: { ...store, kv: { ...kv, set } } }).call("other");

  expect(keys).toEqual([]);
});

test.for([0, -1, 1.5, Number.NaN, "3"])("maxTogether of %s is refused", (maxTogether) => {
  expect(() => createWorkspace({ limits: { maxTogether: maxTogether as number } })).toThrow(/maxTogether/u);
});

interface SlowParts {
  readonly limits?: Partial<WorkspaceLimits>;
  readonly maxConcurrent?: number | undefined;
}

const other = defineTool({ name: "other", description: "Does nothing", run: () => "done" });

/** A workspace whose tool runs until it is told to end, and another one that shares its store. */
async function setUp({ limits = {}, maxConcurrent }: SlowParts): Promise<{
  readonly one: Promise<ToolOutcome>;
  readonly two: ReturnType<typeof createWorkspace>;
  end(): void;
}> {
  const store = memoryStore();
  const gate = Promise.withResolvers<string>();
  const begun = Promise.withResolvers<void>();
  const isLimited = limits.maxTogether !== 1;
  const tool = defineTool({
    name: "slow",
    description: "Takes its time",
    ...(isLimited && { limits: { maxConcurrent: maxConcurrent ?? 1 } }),
    run: () => {
      begun.resolve();
      return gate.promise;
    },
  });
  const [first, two] = [1, 2].map(() => createWorkspace({ tools: [tool, other], store, limits }));
  const one = (first as typeof two & object).call("slow");
  await begun.promise;
  return { one, two: two as typeof two & object, end: () => gate.resolve("done") };
}

/** A tool that knows how many of it ran at once. */
function slow({ maxConcurrent }: SlowParts): { readonly tool: Tool; most(): number } {
  let running = 0;
  let most = 0;
  const tool = defineTool({
    name: "slow",
    description: "Takes its time",
    ...(maxConcurrent !== undefined && { limits: { maxConcurrent } }),
    run: async () => {
      running += 1;
      most = Math.max(most, running);
      await new Promise((resolve) => setTimeout(resolve, 5));
      running -= 1;
    },
  });
  return { tool, most: () => most };
}
