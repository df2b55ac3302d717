import fc from "fast-check";
import { expect, test } from "vitest";

import { Histogram } from "./call-tally.ts";

test("Histogram has quantiles that are off by less than 2.2 %", () => {
  const durations = fc.array(fc.double({ min: 0.01, max: 1e6, noNaN: true }), { minLength: 1, maxLength: 200 });
  fc.assert(
    fc.property(durations, fc.constantFrom(0.5, 0.95, 0.99, 1), (values, part) => {
      const histogram = createHistogram(values);
      const sorted = values.toSorted((left, right) => left - right);
      const exact = sorted[Math.max(1, Math.ceil(part * values.length)) - 1] ?? 0;

      expect(Math.abs(histogram.quantile(part) / exact - 1)).toBeLessThan(0.022);
    }),
  );
});

test("Histogram is empty at first", () => {
  const { count, sumMs, maxMs } = new Histogram();

  expect({ count, sumMs, maxMs }).toEqual({ count: 0, sumMs: 0, maxMs: 0 });
  expect(new Histogram().quantile(0.99)).toBe(0);
});

test("Histogram takes what is no time for 0, and an endless time for the longest", () => {
  const histogram = createHistogram([Number.NaN, -5, -Infinity, 0, Infinity]);

  expect(histogram.count).toBe(5);
  expect(histogram.quantile(0.8)).toBeLessThan(0.001);
  expect(histogram.maxMs).toBe(2 ** 24);
  expect(histogram.quantile(1)).toBeGreaterThan(2 ** 23);
  expect(Number.isFinite(histogram.sumMs)).toBe(true);
});

test("Histogram never says more than the longest there was", () => {
  const histogram = createHistogram([10]);

  expect(histogram.quantile(0.99)).toBeLessThanOrEqual(10);
});

function createHistogram(values: readonly number[]): Histogram {
  const histogram = new Histogram();
  for (const value of values) histogram.add(value);
  return histogram;
}
