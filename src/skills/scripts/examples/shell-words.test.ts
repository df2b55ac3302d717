import { expect, test } from "vitest";

import { splitCommandLine } from "./add-examples.ts";

const table: readonly (readonly [line: string, words: readonly string[], hasPlaceholders?: boolean])[] = [
  [` a  "b c" 'd "e"' f\\ g`, ["a", "b c", 'd "e"', "f g"]],
  [`--x="a b"`, ["--x=a b"]],
  ['"a \\"b\\" \\n"', ['a "b" \\n']],
  ["a | b", ["a"]],
  ["a > out.txt", ["a"]],
  ["a < in.txt", ["a"]],
  ["a; b", ["a"]],
  ["a && b", ["a"]],
  ["a # b", ["a"]],
  ["a#b", ["a#b"]],
  ["''", [""]],
  ["", []],
  ["<file> [out]", ["<file>", "[out]"], true],
  ["$FILE", ["$FILE"], true],
  ["*.pdf", ["*.pdf"], true],
  ["/path/to/file", ["/path/to/file"], true],
  ['"unclosed', ['"unclosed'], true],
];

test.for(table)("splitCommandLine() cuts %j", ([line, words, hasPlaceholders = false]) => {
  expect(splitCommandLine(line)).toEqual({ words, hasPlaceholders });
});
