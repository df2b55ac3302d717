import { expect, test } from "vitest";

import { toLastLine } from "./last-line.ts";

test("toLastLine() says how many passed, failed and were not run, and why, the most frequent reason first", () => {
  const skipped = (note?: string) => ({ state: "skipped", note }) as const;
  const facts = [
    ...Array.from({ length: 1200 }, () => ({ state: "passed" }) as const),
    { state: "failed" } as const,
    skipped("bwrap is not on this machine"),
    skipped("/usr/bin/bwrap is not on this machine"),
    skipped("no compiler for c is on this machine"),
    skipped("only root can give a file away"),
    skipped(),
  ];

  expect(toLastLine(facts)).toBe(
    "1,200 passed, 1 failed, 5 not run: no bwrap (2), no compiler for c (1), not chosen (1), only root can give a file away (1)",
  );
  expect(toLastLine([{ state: "passed" }])).toBe("1 passed, 0 failed");
});
