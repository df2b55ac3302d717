import fc from "fast-check";
import { expect, test } from "vitest";

import { createHeap } from "./heap.ts";

interface Item {
  readonly rank: number;
}

test("createHeap() gives the least item first, whatever was added and removed", () => {
  const steps = fc.array(fc.record({ rank: fc.integer({ min: 0, max: 20 }), removed: fc.option(fc.nat()) }));
  fc.assert(
    fc.property(steps, (all) => {
      const heap = createHeap<Item>((left, right) => left.rank - right.rank);
      const model = new Set<Item>();

      for (const { rank, removed } of all) {
        const item = { rank };
        heap.add(item);
        model.add(item);
        const victim = removed === null ? undefined : [...model][removed % model.size];
        if (victim) heap.remove(victim);
        if (victim) model.delete(victim);

        expect(heap.size).toBe(model.size);
        expect(heap.first()?.rank ?? Infinity).toBe(Math.min(...[...model].map((kept) => kept.rank)));
      }
    }),
  );
});

test("createHeap() leaves everything as it is when an item is removed that is not there", () => {
  const heap = createHeap<Item>((left, right) => left.rank - right.rank);
  heap.add({ rank: 1 });

  heap.remove({ rank: 1 });

  expect(heap.size).toBe(1);
});
