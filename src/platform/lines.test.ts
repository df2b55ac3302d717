import fc from "fast-check";
import { expect, test } from "vitest";

import { createLineSplitter, readLines } from "./lines.ts";

test("createLineSplitter() finds the same lines, wherever the bytes are cut", () => {
  fc.assert(
    fc.property(
      fc.string({ unit: fc.constantFrom("a", "ä", "🙂", "\n", "\r") }),
      fc.array(fc.nat(30)),
      (text, cuts) => {
        const lines: string[] = [];
        const splitter = createLineSplitter({ maxBytes: 1000, onLine: (line) => lines.push(line.toString()) });

        for (const chunk of cutUp(Buffer.from(text), cuts)) splitter.push(chunk);
        splitter.end();

        expect(lines).toEqual(
          (text.endsWith("\n") || text === "" ? text.slice(0, -1) : text).split("\n").slice(text === "" ? 1 : 0),
        );
      },
    ),
  );
});

test("createLineSplitter() drops a line that is too long, says so once, and goes on with the next", () => {
  const heard: string[] = [];
  const splitter = createLineSplitter({
    maxBytes: 3,
    onLine: (line) => heard.push(line.toString()),
    onTooLong: () => heard.push("too long"),
  });

  for (const chunk of ["abc\nab", "cd", "efg\nx", "y\n", "long again"]) splitter.push(Buffer.from(chunk));
  splitter.end();

  expect(heard).toEqual(["abc", "too long", "xy", "too long"]);
});

test("createLineSplitter() cuts a line that is too long, and no character in it", () => {
  const lines: string[] = [];
  const splitter = createLineSplitter({ maxBytes: 5, cuts: true, onLine: (line) => lines.push(line.toString()) });

  for (const chunk of ["abc\nabc", "🙂🙂d", "efg\nxyz"]) splitter.push(Buffer.from(chunk));
  splitter.end();

  expect(lines).toEqual(["abc", "abc", "🙂", "🙂d", "efg", "xyz"]);
});

test("createLineSplitter() needs no listener for lines that are too long", () => {
  const lines: string[] = [];
  const splitter = createLineSplitter({ maxBytes: 1, onLine: (line) => lines.push(line.toString()) });

  splitter.push(Buffer.from("ab\nc\n"));

  expect(lines).toEqual(["c"]);
});

test("readLines() reads the lines of a stream, also the last one without an end", async () => {
  const lines: string[] = [];

  for await (const line of readLines([Buffer.from("a\n\nb"), Buffer.from("c")], { maxBytes: 10 })) lines.push(line);

  expect(lines).toEqual(["a", "", "bc"]);
});

test("readLines() throws at a line that is too long, after the lines before it", async () => {
  const lines: string[] = [];
  const reading = async (): Promise<void> => {
    for await (const line of readLines([Buffer.from("a\nlong\nb\n")], { maxBytes: 3 })) lines.push(line);
  };

  await expect(reading()).rejects.toThrow("a line is longer than 3 bytes");
  expect(lines).toEqual(["a"]);
});

function cutUp(bytes: Buffer, cuts: readonly number[]): readonly Buffer[] {
  const pieces: Buffer[] = [];
  let at = 0;
  for (const length of cuts) {
    pieces.push(bytes.subarray(at, at + length));
    at += length;
  }
  return [...pieces, bytes.subarray(Math.min(at, bytes.length))];
}
