import { expect, test } from "vitest";

import { parsePattern, type PatternNode } from "./pattern-tree.ts";

test.for([
  ["", ""],
  ["abc", "a b c"],
  ["a|b|", "(a or b or nothing)"],
  ["(a)(?:b)(?<n>c)", "a b c"],
  ["a*b+c?", "a{0,∞} b{1,∞} c{0,1}"],
  ["a*?b+?c??", "a{0,∞} b{1,∞} c{0,1}"],
  ["a{2}b{2,}c{2,3}d{2}?", "a{2,2} b{2,∞} c{2,3} d{2,2}"],
  ["(?:ab)+", "(a b){1,∞}"],
  ["^a$", "start a pass"],
  ["\\ba\\B", "pass a pass"],
  ["[a\\]b|()*]c", "[a\\]b|()*] c"],
  ["\\(\\*\\.", "\\( \\* \\."],
  ["\\d\\W\\s", "\\d \\W \\s"],
  ["\\p{L}\\u{1F600}\\u0041\\x41\\cA\\0", "\\p{L} \\u{1F600} \\u0041 \\x41 \\cA \\0"],
  ["\\ud83d\\ude00a", "\\ud83d\\ude00 a"],
  ["😀.", "😀 ."],
  ["(?=a|b)c", "ahead((a or b)) c"],
  ["(?!a)b", "ahead(a) b"],
  ["(?<=ab)c(?<!\\d)", "pass c pass"],
] as const)("parsePattern(%j) takes it apart", ([pattern, parts]) => {
  const parsed = parsePattern(pattern);

  expect(parsed.ok && show(parsed.tree)).toBe(parts);
});

test.for(["$", "\\b", "\\B", "(?=a)", "(?!a)", "(?<=a)", "(?<!a)"])(
  "parsePattern(%j) tells that a match depends on more than its characters",
  (pattern) => {
    expect(parsePattern(pattern)).toMatchObject({ ok: true, hasConditions: true });
  },
);

test.for(["^a", "\\$", "[$]", "\\\\b", "(?<n>a)", "(?:a)"])(
  "parsePattern(%j) tells that a match depends on its characters alone",
  (pattern) => {
    expect(parsePattern(pattern)).toMatchObject({ ok: true, hasConditions: false });
  },
);

test.for([
  "(a)\\1",
  "(a)\\12",
  "(?<n>a)\\k<n>",
  "(?i:a)",
  "(?i-s:a)",
  "(?<=a*)b",
  "(?<=a{2})b",
  "(?<!a|b)c",
  "(?<=(a))b",
])("parsePattern(%j) says what to leave out", (pattern) => {
  expect(parsePattern(pattern).ok).toBe(false);
});

function show(node: PatternNode): string {
  switch (node.kind) {
    case "character":
      return node.source;
    case "pass":
    case "start":
      return node.kind;
    case "sequence":
      return node.parts.map(show).join(" ");
    case "choice":
      return node.parts.length === 1
        ? node.parts.map(show).join("")
        : `(${node.parts
            .map(show)
            .map((part) => part || "nothing")
            .join(" or ")})`;
    case "look-ahead":
      return `ahead(${show(node.part)})`;
    case "repeat": {
      const part = show(node.part);
      const times = `{${node.min},${node.max === Infinity ? "∞" : node.max}}`;
      return (part.includes(" ") ? `(${part})` : part) + times;
    }
  }
}
