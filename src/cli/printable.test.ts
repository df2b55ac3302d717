import { expect, test } from "vitest";

import { renderJson, toPrintable, toPrintableLine } from "./printable.ts";

test("renderJson() escapes what a terminal would obey, and means the same", () => {
  const value = { "\u009B31m": "\u001B[2J\u0085\u202E\u200B\uFEFF\u007F", text: "tab\tline\nö 漢 🙂" };

  const json = renderJson(value);

  expect(json).not.toMatch(/[\u0000-\u0009\u000B-\u001F\u007F-\u009F\u200B\u202E\uFEFF]/u);
  expect(JSON.parse(json)).toEqual(value);
  expect(json).toContain("ö 漢 🙂");
});

test("toPrintable() shows control characters, and keeps tabs and lines", () => {
  expect(toPrintable("a\tb\r\nc\u001B]0;x\u0007")).toBe("a\tb\nc\\u001b]0;x\\u0007");
});

test("toPrintable() shows characters that take no room, and what they could spell", () => {
  const value = "a\u{E0041}\u00ADb\u061C\uFE01\uFE02 ❤\uFE0F";

  expect(toPrintable(value)).toBe("a\\udb40\\udc41\\u00adb\\u061c\\ufe01\\ufe02 ❤\uFE0F");
  expect(JSON.parse(renderJson(value))).toBe(value);
});

test("toPrintableLine() makes one line of any text", () => {
  expect(toPrintableLine(" a\n\n b\t\u2028c ")).toBe("a b c");
});
