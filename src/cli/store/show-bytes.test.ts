import { expect, test } from "vitest";

import { showBytes, showTime } from "../render.ts";

test("showBytes() counts in steps of 1024", () => {
  expect([0, 1, 1023, 1024, 1536, 2 ** 20, 2 ** 40, 2 ** 60].map(showBytes)).toEqual([
    "0 bytes",
    "1 bytes",
    "1023 bytes",
    "1.0 KiB",
    "1.5 KiB",
    "1.0 MiB",
    "1.0 TiB",
    "1048576.0 TiB",
  ]);
});

test("showTime() shows a time of this zone, and a question mark for none", () => {
  expect(showTime(new Date(2026, 0, 2, 3, 4, 5).getTime())).toBe("2026-01-02 03:04:05");
  expect([NaN, Infinity, undefined as unknown as number].map(showTime)).toEqual(["?", "?", "?"]);
});
