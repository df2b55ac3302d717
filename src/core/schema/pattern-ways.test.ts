import { expect, test } from "vitest";

import { findPatternPaths } from "./pattern-paths.ts";
import { parsePattern } from "./pattern-tree.ts";
import { hasFewWays } from "./check-pattern.ts";

test.for([
  ["a search that ends with the first match", "a+", true],
  ["a search that goes on because of a condition", "a+$", false],
  ["a search that begins again and again", "a+b", false],
  ["a beginning that is anchored", "^a+b", true],
  ["one choice that is anchored and one that is not", "^a+b|c", true],
  ["one choice that is not anchored", "^a|b+c", false],
  ["a match of nothing", "a*", true],
  ["a match of nothing with a condition", "a*$", false],
  ["look-aheads at the beginning, each by itself", "^(?=.{1,200}$)(?=.{1,200}$)a+$", true],
  ["a look-ahead that is slow by itself", "^(?=.*a.*b)c", false],
  ["64 ways at the same place", `^(?:${Array(64).fill("a").join("|")})b$`, true],
  ["65 ways at the same place", `^(?:${Array(65).fill("a").join("|")})b$`, false],
  ["65 ways at a later place", `^b(?:${Array(65).fill("a").join("|")})$`, false],
  ["many choices with one way each", `^(?:${Array(300).fill("a").join("|")})$`, true],
  [
    "many choices with many ways each",
    `^(?:${Array(20)
      .fill(`(?:${Array(60).fill("a").join("|")})b`)
      .join("|")})$`,
    false,
  ],
] as const)("hasFewWays() knows %s: %s", ([, pattern, isFew]) => {
  const parsed = parsePattern(pattern);
  const paths = parsed.ok ? findPatternPaths(parsed.tree) : undefined;

  expect(parsed.ok && paths !== undefined && hasFewWays(paths, parsed.hasConditions)).toBe(isFew);
});
