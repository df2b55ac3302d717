import fc from "fast-check";
import type { CallTree } from "kitbag/store";

/** A call that began at a time and took a time. */
export function callTree(
  tool: string,
  [startMs, durationMs]: readonly [startMs: number, durationMs: number],
  calls: readonly CallTree[] = [],
  extra: Partial<CallTree> = {},
): CallTree {
  const status = extra.code === undefined ? "ok" : "failed";
  const call = `${tool}-${startMs}`;
  return { call, tool, time: 0, startMs, durationMs, queuedMs: 0, status, recalled: false, calls, ...extra };
}

/** Trees of calls, some of them at the same time, each inside its caller. */
export const callTrees: fc.Arbitrary<CallTree> = shapes(4).map((shape) => toTree(shape, 0, 100));

function shapes(depth: number): fc.Arbitrary<Shape> {
  const inside = depth === 0 ? fc.constant([]) : fc.array(shapes(depth - 1), { maxLength: 4 });
  return fc.record({ at: fc.nat(10), part: fc.nat(10), inside });
}

interface Shape {
  /** Where it begins, in tenths of its caller. */
  readonly at: number;
  /** How much of what is left then it takes, in tenths. */
  readonly part: number;
  readonly inside: readonly Shape[];
}

function toTree({ inside }: Shape, startMs: number, durationMs: number): CallTree {
  const places = inside.map((inner) => {
    const start = startMs + (durationMs * inner.at) / 10;
    return { inner, start, length: ((startMs + durationMs - start) * inner.part) / 10 };
  });
  const sorted = places.toSorted((left, right) => left.start - right.start);
  // What was added may be a tiny bit more than it should be.
  const calls = sorted.map(({ inner, start, length }) => toTree(inner, round(start), round(length * 0.999)));
  return callTree("tool", [startMs, durationMs], calls);
}

function round(value: number): number {
  return Math.max(0, Math.floor(value * 1024) / 1024);
}
