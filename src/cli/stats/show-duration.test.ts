import { expect, test } from "vitest";

import { showDuration } from "../render.ts";

test.for([
  [0, "0 ms"],
  [0.0421, "0.04 ms"],
  [1.26, "1.3 ms"],
  [42.4, "42 ms"],
  [1234, "1.2 s"],
  [150_000, "2.5 min"],
] as const)("showDuration() says %d ms as people do", ([durationMs, expected]) => {
  expect(showDuration(durationMs)).toBe(expected);
});
