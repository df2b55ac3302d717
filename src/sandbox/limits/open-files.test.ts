import { expect, test } from "vitest";

import { readOpenFileLimit } from "./watch-resources.ts";

test.for([
  [
    "Limit  Soft Limit  Hard Limit  Units\nMax open files            1024                 524288               files     \n",
    1024,
    524_288,
  ],
  ["Max open files            64                   unlimited            files\n", 64, Number.MAX_SAFE_INTEGER],
  ["", Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER],
] as const)("readOpenFileLimit() reads what the system tells: %j", ([table, soft, hard]) => {
  expect(readOpenFileLimit(table)).toEqual({ soft, hard });
});

test("readOpenFileLimit() reads the limit of this process", () => {
  expect(readOpenFileLimit().soft).toBeGreaterThan(0);
});
