import * as fc from "fast-check";
import { expect, test } from "vitest";

import { runGraph } from "./run-plan.ts";

const { signal } = new AbortController();

test("runGraph() runs every node once, after all it depends on, and never more than it may at once", async () => {
  await fc.assert(
    fc.asyncProperty(
      acyclicGraph(),
      fc.integer({ min: 1, max: 6 }),
      fc.array(fc.nat(4)),
      async (graph, most, turns) => {
        const done = new Set<number>();
        const started: number[] = [];
        let running = 0;

        await runGraph(graph, { maxConcurrent: most, signal }, async (node) => {
          started.push(node);
          running += 1;
          expect(running).toBeLessThanOrEqual(most);
          expect(graph[node]?.every((before) => done.has(before))).toBe(true);
          for (let turn = turns[node % (turns.length || 1)] ?? 0; turn >= 0; turn--) await Promise.resolve();
          running -= 1;
          done.add(node);
        });

        expect(started.toSorted((left, right) => left - right)).toEqual([...graph.keys()]);
      },
    ),
  );
});

test("runGraph() runs at the same time what does not depend on each other", async () => {
  let running = 0;
  let most = 0;

  await runGraph([[], [], [0, 1], []], { maxConcurrent: 8, signal }, async () => {
    most = Math.max(most, (running += 1));
    await Promise.resolve();
    running -= 1;
  });

  expect(most).toBe(3);
});

test("runGraph() rejects with the first failure and starts nothing more", async () => {
  const started: number[] = [];

  const result = runGraph([[], [], [1], [0]], { maxConcurrent: 8, signal }, async (node) => {
    started.push(node);
    await Promise.resolve();
    if (node === 0) throw new Error("zero");
  });

  await expect(result).rejects.toThrow("zero");
  await new Promise((resolve) => setTimeout(resolve, 5));
  expect(started).toEqual([0, 1]);
});

test("runGraph() starts nothing after an abort, and leaves no failure unhandled", async () => {
  const controller = new AbortController();
  const started: number[] = [];

  const result = runGraph([[], [], []], { maxConcurrent: 8, signal: controller.signal }, async (node) => {
    started.push(node);
    controller.abort(new Error("enough"));
    await Promise.resolve();
    throw new Error("late");
  });

  await expect(result).rejects.toThrow("enough");
  await new Promise((resolve) => setTimeout(resolve, 5));
  expect(started).toEqual([0]);
});

test("runGraph() of nothing is done", async () => {
  await expect(
    runGraph([], { maxConcurrent: 1, signal }, () => Promise.reject(new Error("no"))),
  ).resolves.toBeUndefined();
});

/** Nodes depend only on nodes of a lower rank; the ranks are shuffled, so references go both ways. */
function acyclicGraph(): fc.Arbitrary<number[][]> {
  return fc.integer({ min: 1, max: 25 }).chain((size) => {
    const ranks = fc.shuffledSubarray([...Array.from({ length: size }).keys()], { minLength: size });
    const edges = fc.array(fc.tuple(fc.nat(size - 1), fc.nat(size - 1)), { maxLength: size * 3 });
    return fc.tuple(ranks, edges).map(([rank, pairs]) => {
      const graph: number[][] = Array.from({ length: size }, () => []);
      for (const [left, right] of pairs) if ((rank[left] ?? 0) > (rank[right] ?? 0)) graph[left]?.push(right);
      return graph;
    });
  });
}
