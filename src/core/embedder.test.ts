import { expect, test } from "vitest";

import { cosineOf, toUnitVector } from "./embedder.ts";

test("toUnitVector() makes vectors comparable, and leaves those alone that point nowhere", () => {
  expect([...toUnitVector([3, 4])]).toEqual([Math.fround(0.6), Math.fround(0.8)]);
  expect([...toUnitVector([0, 0])]).toEqual([0, 0]);
  expect([...toUnitVector([Infinity, 1])]).toEqual([Infinity, 1]);
});

test("cosineOf() is 1 for the same direction, and 0 for what has nothing in common", () => {
  const vector = toUnitVector([1, 2, 2]);

  expect(cosineOf(vector, vector)).toBeCloseTo(1);
  expect(cosineOf(toUnitVector([1, 0]), toUnitVector([0, 1]))).toBe(0);
  expect(cosineOf(toUnitVector([1, 1]), toUnitVector([1]))).toBeCloseTo(Math.SQRT1_2);
});
