import type { Problem } from "../../core/errors.ts";
import { findRoot, usesOfStep } from "./find-uses.ts";
import type { Plan, PlannedStep } from "./plan.ts";

/** For each step of a plan, the steps that must have run before it: those it refers to, and those it names under `after`. */
export function toGraph(plan: Plan): number[][] {
  return plan.steps.map((step) => {
    const before = new Set<number>();
    for (const use of usesOfStep(step)) {
      const root = findRoot(plan, use);
      if (root?.kind === "step" || root?.kind === "errors") before.add(root.step.index);
    }
    for (const index of step.after.map((id) => plan.indexes.get(id))) if (index !== undefined) before.add(index);
    return [...before];
  });
}

/** The circles in which steps wait for each other. */
export function checkCycles(steps: readonly PlannedStep[], graph: readonly (readonly number[])[]): Problem[] {
  const problems: Problem[] = [];
  const left = new Set(graph.keys());
  for (;;) {
    removeRunnable(graph, left);
    const [start] = left;
    if (start === undefined) return problems;
    const cycle = findCycle(graph, left, start);
    const labels = [...cycle, cycle[0] ?? start].map((index) => steps[index]?.label ?? String(index));
    problems.push({
      path: `steps[${cycle[0] ?? start}]`,
      expected: "steps that do not wait for each other",
      found: labels.join(" waits for "),
    });
    for (const index of cycle) left.delete(index);
  }
}

/** Takes out of `left` what can run, again and again, until only circles and what waits for them are left. */
function removeRunnable(graph: readonly (readonly number[])[], left: Set<number>): void {
  let before: number;
  do {
    before = left.size;
    for (const index of left) if (!graph[index]?.some((other) => left.has(other))) left.delete(index);
  } while (left.size < before);
}

/** Follows what each step waits for until one comes again. Everything that is left waits for something that is left. */
function findCycle(graph: readonly (readonly number[])[], left: ReadonlySet<number>, start: number): number[] {
  const walked: number[] = [];
  let index: number | undefined = start;
  while (index !== undefined && !walked.includes(index)) {
    walked.push(index);
    index = graph[index]?.find((other) => left.has(other));
  }
  return index === undefined ? walked : walked.slice(walked.indexOf(index));
}
