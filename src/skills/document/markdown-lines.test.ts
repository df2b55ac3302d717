import fc from "fast-check";
import { expect, test } from "vitest";

import { readMarkdownLines } from "./markdown-lines.ts";

test("readMarkdownLines() tells which lines are code", () => {
  const lines = [...readMarkdownLines("a\n```sh\nb\n```\nc")];

  expect(lines).toEqual([
    { text: "a", offset: 0, index: 0 },
    { text: "```sh", offset: 2, index: 1, fence: "opens", info: "sh" },
    { text: "b", offset: 8, index: 2, fence: "inside", info: "sh" },
    { text: "```", offset: 10, index: 3, fence: "closes", info: "sh" },
    { text: "c", offset: 14, index: 4 },
  ]);
});

test.for([
  ["a longer fence hides a shorter one", "````\n```\nx\n````", ["opens", "inside", "inside", "closes"]],
  ["tildes do not close backticks", "```\n~~~\n```", ["opens", "inside", "closes"]],
  ["a fence with a language does not close", "```\n```sh\n```", ["opens", "inside", "closes"]],
  [
    "a fence in a list or a quotation",
    "- ```\n  x\n  ```\n> ~~~\n> ~~~",
    ["opens", "inside", "closes", "opens", "closes"],
  ],
  ["a code span of three backticks is none", "```x``` y\nz", [undefined, undefined]],
  ["a fence that never closes goes on", "```\nx", ["opens", "inside"]],
] as const)("readMarkdownLines() knows that %s", ([, text, fences]) => {
  expect(Array.from(readMarkdownLines(text), ({ fence }) => fence)).toEqual(fences);
});

test("readMarkdownLines() gives every line once, at its place", () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom("a", "```", "~~~", "\n", "- ", " ", "`"), { maxLength: 30 }), (pieces) => {
      const text = pieces.join("");
      const lines = [...readMarkdownLines(text)];

      expect(lines.map((line) => line.text).join("\n")).toBe(text);
      expect(lines.every((line) => text.startsWith(line.text, line.offset))).toBe(true);
    }),
  );
});
