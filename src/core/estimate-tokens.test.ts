import { expect, test } from "vitest";

import { estimateTokens } from "./estimate-tokens.ts";

test("estimateTokens() counts about three words of English for four tokens", () => {
  expect(estimateTokens("")).toBe(0);
  expect(estimateTokens("the quick brown fox jumps over the lazy dog")).toBeGreaterThanOrEqual(8);
  expect(estimateTokens("the quick brown fox jumps over the lazy dog")).toBeLessThanOrEqual(12);
});
