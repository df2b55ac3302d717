import { createWorkspace, defineSkill, defineTool } from "kitbag";
import { expect, test } from "vitest";

test("stats() counts calls by tool and by owner, nested ones too", async () => {
  const workspace = createWorkspace({
    tools: [outer],
    skills: [defineSkill({ name: "geo", description: "Knows places", tools: [place, broken] })],
  });
  await workspace.activateSkill("geo");

  await workspace.call("outer", {});
  await workspace.call("geo/place", {});
  await workspace.call("geo/broken", {});
  await workspace.call("nothing", {});

  const { total, tools, owners } = workspace.stats();
  expect(total).toMatchObject({ calls: 5, errors: 2, recalled: 1 });
  expect(tools.map(({ tool, calls, errors, recalled }) => ({ tool, calls, errors, recalled }))).toEqual([
    { tool: "geo/place", calls: 2, errors: 0, recalled: 1 },
    { tool: "outer", calls: 1, errors: 0, recalled: 0 },
    { tool: "geo/broken", calls: 1, errors: 1, recalled: 0 },
    { tool: "(unknown)", calls: 1, errors: 1, recalled: 0 },
  ]);
  expect(owners).toMatchObject([{ owner: "geo", calls: 3, errors: 1 }]);
  expect(total.codes).toEqual([
    { code: "tool-failed", count: 1 },
    { code: "tool-not-found", count: 1 },
  ]);
});

test("stats() says how long calls took and how long they waited", async () => {
  const slow = defineTool({ ...base, name: "slow", limits: { maxConcurrent: 1 }, run: () => later(30) });
  const workspace = createWorkspace({ tools: [slow] });

  await Promise.all([workspace.call("slow", {}), workspace.call("slow", {})]);

  const { total, since, until } = workspace.stats();
  expect(total.time.p50Ms).toBeGreaterThan(25);
  expect(total.time.p99Ms).toBeGreaterThan(50);
  expect(total.queue).toMatchObject({ calls: 1 });
  expect(total.queue.p50Ms).toBeGreaterThan(20);
  expect(total).not.toHaveProperty("slices");
  expect(until).toBeGreaterThanOrEqual(since);
});

test("stats() adds up what tools say that they cost, each for itself", async () => {
  const paid = defineTool({ ...base, name: "paid", run: (_, { spend }) => spend(0.5) });
  const skill = defineSkill({ name: "shop", description: "Buys", tools: [paid] });
  const buy = defineTool({
    ...base,
    name: "buy",
    async run(_, { call, spend }) {
      spend(0.25);
      await call("shop/paid", {});
    },
  });
  const workspace = createWorkspace({ tools: [buy], skills: [skill] });
  await workspace.activateSkill("shop");

  await workspace.call("buy", {});
  await workspace.call("shop/paid", {});

  const { total, tools, owners } = workspace.stats();
  expect(total.costUsd).toBe(1.25);
  expect(tools.map(({ tool, costUsd }) => [tool, costUsd])).toEqual([
    ["shop/paid", 1],
    ["buy", 0.25],
  ]);
  expect(owners).toMatchObject([{ owner: "shop", costUsd: 1 }]);
});

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

async function later(durationMs: number): Promise<null> {
  await new Promise((resolve) => void setTimeout(resolve, durationMs));
  return null;
}
