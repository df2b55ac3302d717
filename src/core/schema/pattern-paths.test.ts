import { expect, test } from "vitest";

import { findPatternPaths, type PatternPaths, type Ways } from "./pattern-paths.ts";
import { parsePattern } from "./pattern-tree.ts";

test.for([
  ["abc", "a0 → b1 | b1 → c2"],
  ["a|b", ""],
  ["a*", "a0 → a0"],
  ["(a*)*", "a0 → 2·a0"],
  ["(a?b)+", "a0 → b1 | b1 → a0 b1"],
  ["(ab?)*", "a0 → a0 b1 | b1 → a0"],
  ["a{2}", "a0 → a1"],
  ["a{1,2}b", "a0 → a1 b2 | a1 → b2"],
  ["a{0,2}b", "a0 → b2 | a1 → a0 b2"],
  ["a(|)b", "a0 → 2·b1"],
  ["(?=ab)c", "a0 → b1"],
  ["a(?=b)c", "a0 → b1 c2"],
  ["a^b", ""],
  ["a$b", "a0 → b1"],
] as const)("findPatternPaths() connects the characters of %s", ([pattern, ways]) => {
  expect(show(pathsOf(pattern))).toBe(ways);
});

test("findPatternPaths() tells where a match can begin: at the start of the text, and anywhere else", () => {
  const { begin, beginLater } = pathsOf("^a|b");

  expect([...begin.keys()]).toEqual([0, 1]);
  expect([...beginLater.keys()]).toEqual([1]);
});

test("findPatternPaths() counts a round that matches nothing and must be there", () => {
  expect(pathsOf("(?:a?)+").begin.get(0)).toBe(2);
  expect(pathsOf("(?:a?)*").begin.get(0)).toBe(1);
});

test("findPatternPaths() tells after which characters the pattern can be at its end", () => {
  expect(new Set(pathsOf("ab?c?").end.keys())).toEqual(new Set([0, 1, 2]));
  expect(pathsOf("(?=a)").end.size).toBe(0);
});

test("findPatternPaths() tells whether the pattern matches no text at all", () => {
  expect(["a", "a?", "a*|b", "^$", "a{0}", ""].map((pattern) => pathsOf(pattern).matchesNothing)).toEqual([
    false,
    true,
    true,
    true,
    true,
    true,
  ]);
});

test("findPatternPaths() takes a repeat without an end for very many copies", () => {
  const { characters, follow } = pathsOf("a{3,1000}");

  expect(characters).toEqual(["a"]);
  expect(follow[0]?.get(0)).toBe(1);
});

test.for([
  ["characters", "(?:[a-z]{500}){500}"],
  ["ways", `(?:${"a?".repeat(490)})*`],
  ["ways to match nothing", "(|)".repeat(7)],
  ["ways to the same character", `a${"(|)".repeat(7)}b`],
  ["ways to the end", `a${"(|)".repeat(7)}`],
] as const)("findPatternPaths() gives up at too many %s", ([, pattern]) => {
  expect(findPatternPaths(treeOf(pattern))).toBeUndefined();
});

function treeOf(pattern: string): Parameters<typeof findPatternPaths>[0] {
  const parsed = parsePattern(pattern);
  if (!parsed.ok) throw new Error(parsed.expected);
  return parsed.tree;
}

function pathsOf(pattern: string): PatternPaths {
  const paths = findPatternPaths(treeOf(pattern));
  if (paths === undefined) throw new Error("There are too many ways");
  return paths;
}

function show({ characters, follow }: PatternPaths): string {
  const name = (index: number): string => `${characters[index]}${index}`;
  const list = (ways: Ways): string =>
    [...ways]
      .toSorted(([left], [right]) => left - right)
      .map(([index, count]) => (count === 1 ? name(index) : `${count}·${name(index)}`))
      .join(" ");
  return follow.flatMap((ways, from) => (ways.size === 0 ? [] : [`${name(from)} → ${list(ways)}`])).join(" | ");
}
