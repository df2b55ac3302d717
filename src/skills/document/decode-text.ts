import { isAscii, isUtf8 } from "node:buffer";

import { createPositions } from "./positions.ts";
import type { Reporter } from "./reporter.ts";
import { maxFileBytes } from "./skill-document.ts";

/** A file as text: without byte order mark, with `\n` line ends. */
export interface DecodedText {
  readonly text: string;
  /** There is nothing above U+007F in it. */
  readonly ascii: boolean;
}

/**
 * Makes text of the bytes of a file and reports what is odd about them. UTF-16 with a byte order mark is read; bytes that are
 * not UTF-8 become U+FFFD. Answers nothing, after an `error`, when the file is too large, empty or not text.
 */
export function decodeText(source: string | Uint8Array, reporter: Reporter): DecodedText | undefined {
  const bytes = typeof source === "string" ? undefined : source;
  const size = typeof source === "string" ? byteLength(source) : source.byteLength;
  if (size > maxFileBytes) {
    reporter.report(
      "file-too-large",
      `The file has ${size} bytes; at most ${maxFileBytes} are read`,
      { line: 1, column: 1 },
      "Move details to files under references/",
    );
    return undefined;
  }
  const decoded = bytes === undefined ? checkString(source as string, reporter) : decodeBytes(bytes, reporter);
  const text = toPlainLineEnds(decoded.text, reporter);
  const nul = text.indexOf("\0");
  if (nul !== -1) {
    const where = createPositions(text).at(nul);
    reporter.report(
      "text-binary",
      "The file contains a NUL byte, so it is not UTF-8 text",
      where,
      "Save it as UTF-8 text",
    );
    return undefined;
  }
  if (text.trim() === "") {
    reporter.report("file-empty", "The file is empty", { line: 1, column: 1 }, "Write front matter and instructions");
    return undefined;
  }
  return { text, ascii: decoded.ascii };
}

function byteLength(text: string): number {
  return text.length > maxFileBytes ? text.length : Buffer.byteLength(text);
}

function checkString(source: string, reporter: Reporter): DecodedText {
  const text = source.startsWith("\uFEFF") ? source.slice(1) : source;
  if (text !== source) reportMark(reporter);
  if (!text.isWellFormed()) {
    const fixed = text.toWellFormed();
    const offset = findDifference(text, fixed);
    reportEncoding("half of a surrogate pair", createPositions(text).at(offset), reporter);
    return { text: fixed, ascii: false };
  }
  return { text, ascii: false };
}

function decodeBytes(bytes: Uint8Array, reporter: Reporter): DecodedText {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (isAscii(buffer)) return { text: buffer.toString("latin1"), ascii: true };
  const wide = findWideEncoding(buffer);
  if (wide !== undefined) {
    const where = { line: 1, column: 1 };
    reporter.report("encoding-invalid", `The file is ${wide.toUpperCase()}, not UTF-8`, where, "Save it as UTF-8");
    return { text: new TextDecoder(wide).decode(buffer), ascii: false };
  }
  const marked = buffer[0] === 0xef && buffer[1] === 0xbb && buffer[2] === 0xbf;
  if (marked) reportMark(reporter);
  const rest = marked ? buffer.subarray(3) : buffer;
  const text = rest.toString("utf8");
  if (!isUtf8(rest)) {
    const offset = findInvalidByte(rest);
    const where = createPositions(toLf(text)).at(toLf(rest.subarray(0, offset).toString("utf8")).length);
    reportEncoding(`the byte 0x${(rest[offset] ?? 0).toString(16).toUpperCase().padStart(2, "0")}`, where, reporter);
  }
  return { text, ascii: false };
}

function reportMark(reporter: Reporter): void {
  const message = "The file starts with a byte order mark; several clients then see no front matter";
  reporter.report("byte-order-mark", message, { line: 1, column: 1 }, "Save it as UTF-8 without BOM");
}

function reportEncoding(found: string, where: { line: number; column: number }, reporter: Reporter): void {
  const message = `The file is not valid UTF-8: found ${found}; it is read as U+FFFD`;
  reporter.report("encoding-invalid", message, where, "Save it as UTF-8");
}

function findWideEncoding(buffer: Buffer): "utf-16le" | "utf-16be" | undefined {
  if (buffer[0] === 0xff && buffer[1] === 0xfe) return "utf-16le";
  return buffer[0] === 0xfe && buffer[1] === 0xff ? "utf-16be" : undefined;
}

function findDifference(left: string, right: string): number {
  let offset = 0;
  while (left[offset] === right[offset]) offset++;
  return offset;
}

/** The length of a UTF-8 sequence, and the smallest and largest second byte. */
type Sequence = readonly [length: number, low: number, high: number];

function sequenceOf(first: number): Sequence {
  if (first < 0x80) return [1, 0, 0];
  if (first >= 0xc2 && first <= 0xdf) return [2, 0x80, 0xbf];
  if (first >= 0xe0 && first <= 0xef) return [3, first === 0xe0 ? 0xa0 : 0x80, first === 0xed ? 0x9f : 0xbf];
  if (first >= 0xf0 && first <= 0xf4) return [4, first === 0xf0 ? 0x90 : 0x80, first === 0xf4 ? 0x8f : 0xbf];
  return [0, 0, 0];
}

function findInvalidByte(bytes: Uint8Array): number {
  for (let offset = 0; offset < bytes.length;) {
    const sequence = sequenceOf(bytes[offset] ?? 0);
    if (sequence[0] === 0 || !isContinued(bytes, offset, sequence)) return offset;
    offset += sequence[0];
  }
  return bytes.length;
}

function isContinued(bytes: Uint8Array, offset: number, [length, low, high]: Sequence): boolean {
  for (let index = 1; index < length; index++) {
    const byte = bytes[offset + index] ?? 0;
    if (byte < (index === 1 ? low : 0x80) || byte > (index === 1 ? high : 0xbf)) return false;
  }
  return true;
}

function toLf(text: string): string {
  return text.includes("\r") ? text.replaceAll(/\r\n?/gu, "\n") : text;
}

function toPlainLineEnds(text: string, reporter: Reporter): string {
  if (!text.includes("\r")) return text;
  const [first] = /\r\n?|\n/u.exec(text) ?? [];
  let line = 0;
  for (const [end] of text.matchAll(/\r\n?|\n/gu)) {
    line++;
    if (end === first) continue;
    const message = `Lines end in different ways: line 1 ends with ${showEnd(first)}, line ${line} with ${showEnd(end)}`;
    reporter.report("line-ends-mixed", message, { line, column: 1 }, "Save it with LF line ends");
    return toLf(text);
  }
  const message = `Lines end with ${showEnd(first)}`;
  reporter.report("line-ends-crlf", message, { line: 1, column: 1 }, "Save it with LF line ends");
  return toLf(text);
}

function showEnd(end: string | undefined): string {
  if (end === "\r\n") return "CRLF";
  return end === "\r" ? "CR" : "LF";
}
