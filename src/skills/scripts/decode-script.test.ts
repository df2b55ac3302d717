import { expect, test } from "vitest";

import { decodeScript, largestScript } from "./prepare-scripts.ts";

test("decodeScript() makes plain line ends and drops a byte order mark", () => {
  expect(decodeScript(Buffer.from("\uFEFFa\r\nb\rc\n")).text).toBe("a\nb\nc\n");
});

test("decodeScript() reads UTF-16 with its mark, as Windows writes it", () => {
  expect(decodeScript(Buffer.from("\uFEFFparam()", "utf16le"))).toMatchObject({ text: "param()", isBinary: false });
});

test("decodeScript() tells NUL bytes and bytes that are not UTF-8", () => {
  expect(decodeScript(Buffer.from("a\0b")).isBinary).toBe(true);
  expect(decodeScript(Buffer.from([0x61, 0xff, 0x62]))).toMatchObject({ text: "a\uFFFDb", isDamaged: true });
  expect(decodeScript(Buffer.from("a \uFFFD b")).isDamaged).toBe(false);
});

test("decodeScript() reads only the head of a very large file", () => {
  const { text, isCut, isDamaged } = decodeScript(Buffer.alloc(largestScript + 1, "ä"));

  expect(isCut).toBe(true);
  expect(isDamaged).toBe(false);
  expect(text.length).toBeLessThan(70_000);
});

test("decodeScript() takes text as it is", () => {
  expect(decodeScript("a\r\nb")).toEqual({ text: "a\nb", isCut: false, isDamaged: false, isBinary: false });
});
