import * as fc from "fast-check";
import { expect, test } from "vitest";

import { mapBounded } from "./run-plan.ts";

const { signal } = new AbortController();

test("mapBounded() answers in order, runs each item once, and never more than it may at once", async () => {
  const cases = fc.asyncProperty(
    fc.array(fc.integer({ min: 1, max: 5 }), { maxLength: 30 }),
    fc.integer({ min: 1, max: 8 }),
    async (items, maxConcurrent) => {
      let running = 0;
      let most = 0;
      const seen: number[] = [];

      const results = await mapBounded(items, { maxConcurrent, signal }, async (item, index) => {
        most = Math.max(most, (running += 1));
        seen.push(index);
        for (let turn = 0; turn < item; turn++) await Promise.resolve();
        running -= 1;
        return `${index}:${item}`;
      });

      expect(results).toEqual(items.map((item, index) => `${index}:${item}`));
      expect(seen.toSorted((left, right) => left - right)).toEqual(items.map((_, index) => index));
      expect(most).toBeLessThanOrEqual(maxConcurrent);
      expect(most).toBe(Math.min(maxConcurrent, items.length));
    },
  );

  await fc.assert(cases);
});

test("mapBounded() rejects with the first failure and starts nothing more", async () => {
  const started: number[] = [];

  const mapped = mapBounded([1, 2, 3, 4, 5], { maxConcurrent: 2, signal }, async (item) => {
    started.push(item);
    await Promise.resolve();
    if (item === 2) throw new Error("two");
    await new Promise((resolve) => setTimeout(resolve, 1));
  });

  await expect(mapped).rejects.toThrow("two");
  await new Promise((resolve) => setTimeout(resolve, 10));
  expect(started).toEqual([1, 2]);
});

test("mapBounded() starts nothing after an abort", async () => {
  const controller = new AbortController();
  const started: number[] = [];

  const mapped = mapBounded([1, 2, 3], { maxConcurrent: 1, signal: controller.signal }, (item) => {
    started.push(item);
    controller.abort(new Error("enough"));
    return Promise.resolve(item);
  });

  await expect(mapped).rejects.toThrow("enough");
  expect(started).toEqual([1]);
});
