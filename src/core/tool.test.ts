import { expect, test } from "vitest";

import { isParallelSafe } from "./tool.ts";

test.for([
  [{}, false],
  [{ readOnly: true }, true],
  [{ readOnly: true, destructive: true }, false],
  [{ readOnly: true, parallelSafe: false }, false],
  [{ destructive: true, parallelSafe: true }, true],
] as const)("isParallelSafe(%j) is %s", ([annotations, expected]) => {
  expect(isParallelSafe(annotations)).toBe(expected);
});
