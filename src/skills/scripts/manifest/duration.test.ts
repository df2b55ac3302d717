import fc from "fast-check";
import { expect, test } from "vitest";

import { parseDuration, toDuration } from "./duration.ts";

const yearMs = 365 * 86_400_000;

test.for([
  [30, 30_000],
  [0.5, 500],
  ["90", 90_000],
  ["500ms", 500],
  ["30 s", 30_000],
  ["1.5m", 90_000],
  ["2h", 7_200_000],
  ["365d", yearMs],
] as const)("parseDuration() reads %j", ([value, ms]) => {
  expect(parseDuration(value, yearMs)).toBe(ms);
});

test.for(["", "0", 0, -1, "-5s", "5 minutes", "1e3", "0.1ms", "366d", "9".repeat(400), true, null, [5], { m: 5 }])(
  "parseDuration() takes no %j",
  (value) => {
    expect(parseDuration(value, yearMs)).toBeUndefined();
  },
);

test("toDuration() writes any time with the largest unit that fits, and parseDuration() reads it back", () => {
  expect([600_000, 5_400_000, 86_400_000, 1500].map(toDuration)).toEqual(["10m", "90m", "1d", "1500ms"]);
  fc.assert(
    fc.property(fc.integer({ min: 1, max: yearMs }), (ms) => {
      expect(parseDuration(toDuration(ms), yearMs)).toBe(ms);
    }),
  );
});
