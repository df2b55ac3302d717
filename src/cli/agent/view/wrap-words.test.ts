import { expect, test } from "vitest";

import { toPrintable } from "../../printable.ts";
import { createAnswerWriter } from "./answer-writer.ts";
import { wrapText } from "./wrap-words.ts";

test("wrapText() wraps long lines at words, below their own beginning, and leaves short ones", () => {
  expect(wrapText("one two three four five\n  six seven eight nine\n\nshort", 14)).toBe(
    "one two three\nfour five\n  six seven\n  eight nine\n\nshort",
  );
  expect(wrapText("one two three four five", undefined)).toBe("one two three four five");
});

test("wrapText() does not count colours", () => {
  const red = "\u001B[31mone\u001B[39m two three";

  expect(wrapText(red, 13)).toBe(red);
  expect(wrapText(red, 9)).toBe("\u001B[31mone\u001B[39m two\nthree");
});

test.for([
  [["one two three four five six"]],
  [["one tw", "o three four", " five", " six"]],
  ["one two three four five six".split("")],
])("createAnswerWriter() wraps at words on a screen, however the text comes: %j", ([pieces]) => {
  let shown = "";
  const writer = createAnswerWriter({ print: (text) => void (shown += text), toShown: toPrintable, columns: 15 });

  for (const piece of pieces ?? []) writer.write(piece);
  writer.endLine();
  writer.endLine();

  expect(shown).toBe("one two three\nfour five six\n");
});

test("createAnswerWriter() keeps indents, blanks inside of lines and empty lines on a screen", () => {
  let shown = "";
  const writer = createAnswerWriter({ print: (text) => void (shown += text), toShown: toPrintable, columns: 20 });

  writer.write("a\r\n\n  b   c\n");
  writer.write("\u001B[2J x");
  writer.endLine();

  expect(shown).toBe(`a\n\n  b   c\n${String.raw`\u001b[2J x`}\n`);
});
