import { text } from "node:stream/consumers";

import { expect, test } from "vitest";

import { createPasteFilter } from "./keyboard.ts";

const [begin, end] = ["\u001B[200~", "\u001B[201~"];

test.for([
  ["plain keys", ["a", "b\r"], "ab\r"],
  ["arrows and escape", ["\u001B[A", "\u001B", "x"], "\u001B[A\u001Bx"],
  ["several lines", [`${begin}a\nb\r\nc\rd${end}\r`], "a␤b␤c␤d\r"],
  ["marks in two pieces", ["\u001B[20", "0~a\n", "b\u001B[2", "01~\r"], "a␤b\r"],
  ["the last mark in single bytes", [begin, "a", "\n", ...end.split(""), "\r"], "a␤\r"],
  ["two pastes", [`${begin}a\n${end}-${begin}\nb${end}`], "a␤-␤b"],
  ["what a terminal would obey", [`${begin}\u001B[2J\u0007\ta${end}`], "[2J  a"],
] as const)("createPasteFilter() passes on %s", async ([, pieces, expected]) => {
  const filter = createPasteFilter();

  for (const piece of pieces) filter.write(piece);
  filter.end();

  expect(await text(filter)).toBe(expected);
});

test("createPasteFilter() keeps characters whole whose bytes come in two pieces", async () => {
  const filter = createPasteFilter();
  const bytes = Buffer.from(`schön 🖼\n${end}`);

  filter.write(begin);
  for (const byte of bytes) filter.write(Buffer.from([byte]));
  filter.end();

  expect(await text(filter)).toBe("schön 🖼␤");
});
