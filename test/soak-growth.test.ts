import { expect, test } from "vitest";

import { estimateGrowth } from "../bench/serve-soak/growth.ts";

const toReadings = (values: readonly number[]) => values.map((value, index) => ({ seconds: index * 30, value }));

test("estimateGrowth() sees what grows a little with each reading", () => {
  expect(estimateGrowth(toReadings(Array.from({ length: 25 }, (_, index) => 100 + index)))).toBe(24);
});

test("estimateGrowth() takes a few readings that are far off for noise, also the last", () => {
  const readings = toReadings([10, 10, 90, 10, 10, 10, 10, 10, 80, 10, 90]);

  expect(estimateGrowth(readings)).toBe(0);
  expect(estimateGrowth([])).toBe(0);
});
