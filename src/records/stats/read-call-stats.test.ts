import { createWorkspace, defineSkill, defineTool, type CallEvent, type JsonValue } from "kitbag";
import { readCallStats } from "kitbag/store";
import { expect, test } from "vitest";

import { memoryStore } from "../../store/memory-store.ts";

test("readCallStats() counts what a workspace has recorded, by tool and by owner", async () => {
  const store = memoryStore();
  const workspace = createWorkspace({
    tools: [outer],
    skills: [defineSkill({ name: "geo", description: "Knows places", tools: [place, broken] })],
    store,
  });
  await workspace.activateSkill("geo");
  for (const tool of ["outer", "geo/place", "geo/broken", "nothing"]) await workspace.call(tool, {});

  const stats = await readCallStats(store);

  const { total, tools, owners } = workspace.stats();
  expect(stats.total).toMatchObject({ calls: 5, errors: 2, recalled: 1, codes: total.codes });
  expect(stats.tools.map(({ tool, calls, errors }) => ({ tool, calls, errors }))).toEqual(
    tools.map(({ tool, calls, errors }) => ({ tool, calls, errors })),
  );
  expect(stats.owners.map(({ owner, calls }) => ({ owner, calls }))).toEqual(
    owners.map(({ owner, calls }) => ({ owner, calls })),
  );
});

test("readCallStats() counts only the calls of the user that is asked for, with those inside them", async () => {
  const store = memoryStore();
  const workspace = createWorkspace({
    tools: [outer],
    skills: [defineSkill({ name: "geo", description: "Knows places", tools: [place, broken] })],
    store,
  });
  await workspace.activateSkill("geo");
  for (const user of ["ada", "ada", "bob"]) await workspace.call("outer", {}, { user });
  await workspace.call("outer", {});

  const [all, ada, nobody] = await Promise.all([
    readCallStats(store),
    readCallStats(store, { user: "ada" }),
    readCallStats(store, { user: "nobody" }),
  ]);

  expect([all.total.calls, ada.total.calls, nobody.total.calls]).toEqual([8, 4, 0]);
  expect([ada.slowest.length, ada.open]).toEqual([2, 0]);
  await expect(readCallStats(store, { user: 3 as never })).rejects.toMatchObject({ code: "option-invalid" });
});

test("readCallStats() counts only the calls of the time that is asked for, in slices", async () => {
  const { store, recordAt } = createLog();
  for (let minute = 0; minute < 60; minute++) await recordAt(minute * 60_000, { tool: "tick", durationMs: minute });

  const stats = await readCallStats(store, { since: 10 * 60_000, until: 40 * 60_000, slices: 3 });

  expect(stats.total.calls).toBe(30);
  expect(stats.total.slices).toEqual([10, 10, 10]);
  expect(stats.total.time.maxMs).toBe(39);
  expect(stats).toMatchObject({ since: 600_000, until: 2_400_000 });
});

test("readCallStats() begins with the first call if nothing else is asked for", async () => {
  const { store, recordAt } = createLog();
  await recordAt(5000, { tool: "tick", durationMs: 1 });

  const stats = await readCallStats(store, { slices: 0 });

  expect(stats.since).toBe(5000);
  expect(stats.total.calls).toBe(1);
  expect(stats.total).not.toHaveProperty("slices");
});

test("readCallStats() counts nothing in an empty store", async () => {
  const stats = await readCallStats(memoryStore());

  expect(stats.total).toMatchObject({ calls: 0, time: { p50Ms: 0, meanMs: 0 }, queue: { calls: 0 } });
  expect(stats.slowest).toEqual([]);
});

test("readCallStats() counts calls that have no end, whoever asks for their tool", async () => {
  const { store, recordAt } = createLog();
  await recordAt(1, { tool: "work", durationMs: 1 });
  const begun = ["geo/place", "geo/place", "work"].map((tool, index) => ({
    type: "call-start",
    call: `x${index}`,
    tool,
  }));
  await store.log.append("calls", begun);

  const open = await Promise.all(
    [{}, { tool: "geo" }, { tool: "work" }, { tool: "other" }].map(async (options) => {
      const stats = await readCallStats(store, options);
      return [stats.open, stats.total.calls];
    }),
  );

  expect(open).toEqual([
    [3, 1],
    [2, 0],
    [1, 1],
    [0, 0],
  ]);
});

test("readCallStats() counts calls without an end though there are more than it remembers", async () => {
  const store = memoryStore();
  const begun = Array.from({ length: 100_010 }, (_, index) => ({
    type: "call-start",
    call: `x${index}`,
    tool: "work",
  }));
  await store.log.append("calls", begun);

  expect((await readCallStats(store)).open).toBe(100_010);
});

test("readCallStats() counts one tool, or the tools of one owner", async () => {
  const { store, recordAt } = createLog();
  await recordAt(1, { tool: "geo/place", durationMs: 1 });
  await recordAt(2, { tool: "geo/route", durationMs: 1 });
  await recordAt(3, { tool: "add", durationMs: 1 });

  expect((await readCallStats(store, { tool: "geo" })).total.calls).toBe(2);
  expect((await readCallStats(store, { tool: "geo/route" })).total.calls).toBe(1);
  expect((await readCallStats(store, { tool: "__proto__" })).total.calls).toBe(0);
});

test("readCallStats() lists the slowest calls, without those inside others", async () => {
  const { store, recordAt } = createLog();
  for (let index = 0; index < 10; index++)
    await recordAt(index, { call: `c${index}`, tool: "work", durationMs: index });
  await recordAt(20, { call: "nested", parent: "c9", tool: "work", durationMs: 1000 });

  const { slowest } = await readCallStats(store);

  expect(slowest.map(({ call }) => call)).toEqual(["c9", "c8", "c7", "c6", "c5"]);
  expect(slowest[0]).toEqual({ call: "c9", tool: "work", durationMs: 9, time: 9 });
});

test("readCallStats() leaves out what is no record of a call", async () => {
  const store = memoryStore();
  const strange: JsonValue[] = [
    null,
    "call-end",
    [],
    { type: "call-end" },
    { type: "call-end", call: 1, tool: "x" },
    { type: "call-other", call: "a", tool: "x" },
    { type: "call-end", call: "a", tool: "odd", durationMs: "long", outcome: { status: "failed", error: [] } },
    { type: "call-end", call: "b", tool: "constructor", outcome: 7 },
    { type: "call-start", call: "b", tool: "x", parent: {}, owner: 1, source: null },
  ];
  await store.log.append("calls", strange);

  const stats = await readCallStats(store);

  expect(stats.tools.map(({ tool, calls, codes }) => ({ tool, calls, codes }))).toEqual([
    { tool: "odd", calls: 1, codes: [{ code: "unknown", count: 1 }] },
    { tool: "constructor", calls: 1, codes: [] },
  ]);
});

test("readCallStats() adds up what calls cost", async () => {
  const store = memoryStore();
  const paid = defineTool({ ...base, name: "paid", run: (_, { spend }) => spend(0.5) });
  const workspace = createWorkspace({ tools: [paid, place], store });
  for (const tool of ["paid", "paid", "place"]) await workspace.call(tool, {});
  await store.log.append("calls", [{ type: "call-end", call: "x", tool: "paid", outcome: {}, costUsd: "much" }]);

  const stats = await readCallStats(store);

  expect(stats.total.costUsd).toBe(1);
  expect(stats.tools.map(({ tool, costUsd }) => [tool, costUsd])).toEqual([
    ["paid", 1],
    ["place", 0],
  ]);
});

test("readCallStats() keeps a bounded number of rows, whatever names there are", async () => {
  const { store, recordAt } = createLog();
  for (let index = 0; index < 1010; index++) {
    await recordAt(index, { tool: `owner-${index}/tool`, durationMs: 1, code: `code-${index}` });
  }

  const { tools, owners, total } = await readCallStats(store);

  expect(tools).toHaveLength(1001);
  expect(owners).toHaveLength(1001);
  expect(tools.find(({ tool }) => tool === "(others)")?.calls).toBe(10);
  expect(total.codes).toHaveLength(51);
  expect(total.codes[0]).toEqual({ code: "(others)", count: 960 });
});

test.for([{ since: Number.NaN }, { until: "now" }, { slices: 1.5 }, { slices: 5000 }, { tool: 5 }])(
  "readCallStats() refuses %j",
  async (options) => {
    await expect(readCallStats(memoryStore(), options as never)).rejects.toMatchObject({ code: "option-invalid" });
  },
);

const base = { description: "Does something", input: { type: "object" } } as const;
const place = defineTool({ ...base, name: "place", cache: { ttlMs: 10_000 }, run: () => "here" });
const outer = defineTool({ ...base, name: "outer", run: (_, { call }) => call("geo/place", {}) as never });
const broken = defineTool({
  ...base,
  name: "broken",
  run: () => {
    throw new Error("broken");
  },
});

interface Recorded {
  readonly call?: string;
  readonly parent?: string;
  readonly tool: string;
  readonly durationMs: number;
  readonly code?: string;
}

/** A store in which calls are recorded at any time. */
function createLog(): { store: ReturnType<typeof memoryStore>; recordAt(time: number, call: Recorded): Promise<void> } {
  let now = 0;
  const store = memoryStore({ now: () => now });
  return {
    store,
    async recordAt(time, { call = `c-${time}`, parent, tool, durationMs, code }) {
      now = time;
      const error = { code, message: "no", details: {} };
      const outcome = code === undefined ? { status: "ok", output: 1 } : { status: "failed", error };
      const start = { type: "call-start", call, tool, input: {}, time, ...(parent !== undefined && { parent }) };
      const events = [start, { type: "call-end", call, tool, durationMs, outcome }] as unknown as CallEvent[];
      await store.log.append("calls", events as unknown as JsonValue[]);
    },
  };
}
