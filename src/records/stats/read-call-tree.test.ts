import { createWorkspace, defineTool, type CallEvent, type JsonValue } from "kitbag";
import { readCallTree, type CallTree } from "kitbag/store";
import { expect, test } from "vitest";

import { memoryStore } from "../../store/memory-store.ts";

test("readCallTree() reads a call with the calls inside it, each within its caller", async () => {
  const store = memoryStore();
  const leaf = defineTool({ ...base, name: "leaf", run: () => later(3) });
  const twice = defineTool({
    ...base,
    name: "twice",
    run: async (_, { call }) => {
      await call("leaf", {});
      await Promise.all([call("leaf", {}), call("nothing", {})]);
      return null;
    },
  });
  const workspace = createWorkspace({ tools: [leaf, twice], store });
  const events: CallEvent[] = [];
  await workspace.call("leaf", {});
  await workspace.call("twice", {}, { onEvent: (event) => void events.push(event) });

  const tree = await readCallTree(store, events[0]?.call ?? "");

  expect(tree).toMatchObject({ tool: "twice", startMs: 0, status: "ok", recalled: false });
  expect(tree?.calls.map(({ tool, status }) => `${tool} ${status}`)).toEqual(["leaf ok", "leaf ok", "nothing failed"]);
  expect(tree?.calls[2]?.code).toBe("tool-not-found");
  expectInside(tree as CallTree);
  const [first, second] = tree?.calls ?? [];
  expect(second?.startMs).toBeGreaterThanOrEqual((first?.startMs ?? 0) + (first?.durationMs ?? 0));
});

test("readCallTree() finds a call among thousands, and one inside another", async () => {
  const store = memoryStore();
  await append(store, [start("old"), start("old-inner", "old"), end("old-inner", 2), end("old", 5)]);
  for (let index = 0; index < 300; index++) await append(store, [start(`n${index}`), end(`n${index}`, 1)]);

  expect(await readCallTree(store, "old")).toMatchObject({
    call: "old",
    durationMs: 5,
    calls: [{ call: "old-inner" }],
  });
  expect(await readCallTree(store, "old-inner")).toMatchObject({ call: "old-inner", durationMs: 2, calls: [] });
  expect(await readCallTree(store, "nobody")).toBeUndefined();
  expect(await readCallTree(store, "__proto__")).toBeUndefined();
});

test("readCallTree() says that a call is open whose end is not there", async () => {
  let now = 1000;
  const store = memoryStore({ now: () => now });
  await append(store, [{ ...start("a"), time: 1000 }]);
  now = 1010;
  await append(store, [
    { ...start("b", "a"), time: 1010 },
    { type: "call-end", call: "other", tool: "x" },
  ]);

  expect(await readCallTree(store, "a")).toMatchObject({
    status: "open",
    durationMs: 10,
    calls: [{ call: "b", status: "open", startMs: 10, durationMs: 0 }],
  });
});

test("readCallTree() puts calls inside their caller that do not fit, because clocks differ", async () => {
  const store = memoryStore();
  const late = { ...start("b", "a"), time: 50 };
  const early = { ...start("c", "a"), time: -50 };
  await append(store, [{ ...start("a"), time: 0 }, late, end("b", 30), early, end("c", -5), end("a", 10)]);

  const tree = await readCallTree(store, "a");

  expectInside(tree as CallTree);
  expect(tree?.calls.map(({ startMs, durationMs }) => [startMs, durationMs])).toEqual([
    [0, 10],
    [10, 0],
  ]);
});

test("readCallTree() takes a chain of calls that is too deep only so far, and an id only once", async () => {
  const store = memoryStore();
  const chain = Array.from({ length: 2000 }, (_, index) =>
    start(`c${index}`, index === 0 ? undefined : `c${index - 1}`),
  );
  await append(store, [...chain, start("c1", "c0"), end("c0", 5)]);

  let depth = 0;
  for (let call = await readCallTree(store, "c0"); call !== undefined; call = call.calls[0]) depth += 1;

  expect(depth).toBe(501);
});

const base = { description: "Does something", input: { type: "object" } } as const;

async function later(durationMs: number): Promise<null> {
  await new Promise((resolve) => void setTimeout(resolve, durationMs));
  return null;
}

function start(call: string, parent?: string): Record<string, JsonValue> {
  return { type: "call-start", call, tool: "tool", input: {}, time: 0, ...(parent !== undefined && { parent }) };
}

function end(call: string, durationMs: number): Record<string, JsonValue> {
  return { type: "call-end", call, tool: "tool", durationMs, outcome: { status: "ok", output: 1 } };
}

async function append(store: ReturnType<typeof memoryStore>, values: readonly JsonValue[]): Promise<void> {
  await store.log.append("calls", values);
}

function expectInside({ startMs, durationMs, calls }: CallTree): void {
  for (const inner of calls) {
    expect(inner.startMs).toBeGreaterThanOrEqual(startMs);
    expect(inner.startMs + inner.durationMs).toBeLessThanOrEqual(startMs + durationMs + 1e-9);
    expectInside(inner);
  }
}
