import * as fc from "fast-check";
import { expect, test } from "vitest";

import type { PlannedStep } from "./read-plan.ts";
import { checkCycles } from "./define-pipeline.ts";

test("checkCycles() finds a circle exactly if there is one, and names real steps of it", () => {
  const graphs = fc.integer({ min: 1, max: 12 }).chain((size) => {
    const edges = fc.array(fc.tuple(fc.nat(size - 1), fc.nat(size - 1)), { maxLength: size * 2 });
    return edges.map((pairs) => {
      const graph: number[][] = Array.from({ length: size }, () => []);
      for (const [from, to] of pairs) graph[from]?.push(to);
      return graph;
    });
  });

  fc.assert(
    fc.property(graphs, (graph) => {
      const problems = checkCycles(graph.map(toStep), graph);

      expect(problems.length > 0).toBe([...graph.keys()].some((node) => reaches(graph, node, node)));
      for (const { found } of problems) {
        const circle = found.split(" waits for ").map(Number);
        expect(circle.at(0)).toBe(circle.at(-1));
        for (const [index, node] of circle.slice(1).entries()) expect(graph[circle[index] ?? -1]).toContain(node);
      }
    }),
    { numRuns: 500 },
  );
});

test("checkCycles() finds every circle that shares no step with another", () => {
  const graph = [[1], [0], [3], [2], [0]];

  const problems = checkCycles(graph.map(toStep), graph);

  expect(problems.map(({ found }) => found)).toEqual(["0 waits for 1 waits for 0", "2 waits for 3 waits for 2"]);
});

function reaches(graph: readonly (readonly number[])[], from: number, goal: number): boolean {
  const seen = new Set<number>();
  const open = [...(graph[from] ?? [])];
  for (const node of open) {
    if (node === goal) return true;
    if (seen.has(node)) continue;
    seen.add(node);
    open.push(...(graph[node] ?? []));
  }
  return false;
}

function toStep(_before: unknown, index: number): PlannedStep {
  const args = { kind: "literal", value: {} } as const;
  const base = { isFilter: false, maxConcurrent: 8, continueOnError: false, after: [] };
  return { ...base, index, label: String(index), tool: "t", args };
}
