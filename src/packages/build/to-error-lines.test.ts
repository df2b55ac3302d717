import { expect, test } from "vitest";

import { toErrorLines } from "./compile.ts";

const place = { directory: "/skill" };

test("toErrorLines() names files as they are in the skill's folder", () => {
  const output = "/skill/src/a.c:3:5: error: no\n./src/a.c:4:1: note: here\r\n   └─ in ./src/a.ts(5,23)\n\n";

  expect(toErrorLines(output, place)).toEqual([
    "src/a.c:3:5: error: no",
    "src/a.c:4:1: note: here",
    "   └─ in src/a.ts:5:23",
  ]);
});

test("toErrorLines() finds the folder that Cargo leaves out", () => {
  const output = "error[E0425]: cannot find\n --> src/main.rs:1:13\n  --> /usr/lib/rust/core.rs:1:1\n";

  expect(toErrorLines(output, { ...place, folder: "crate" })).toEqual([
    "error[E0425]: cannot find",
    " --> crate/src/main.rs:1:13",
    "  --> /usr/lib/rust/core.rs:1:1",
  ]);
});

test("toErrorLines() shows the first error, however much stands before it and behind it", () => {
  const before = Array.from({ length: 200 }, (_, index) => `In file included from a.c:${index}`);
  const after = Array.from({ length: 50 }, (_, index) => `note ${index}`);

  const lines = toErrorLines([...before, "a.c:1: error: too deep", ...after].join("\n"), place);

  expect(lines.length).toBe(32);
  expect(lines[0]).toBe("… 197 lines before");
  expect(lines).toContain("a.c:1: error: too deep");
  expect(lines.at(-1)).toBe("… and 24 more lines");
});

test("toErrorLines() cuts what is too long, and takes out what a terminal would obey", () => {
  const [line = ""] = toErrorLines(`\u001B[31m${"x".repeat(5000)}\u001B[0m`, place);

  expect(line.length).toBe(402);
  expect(line).toMatch(/^x+ …$/u);
});

test.for(["", "\n\n", "  \n"])("toErrorLines() answers with nothing for %j", (output) => {
  expect(toErrorLines(output, place)).toEqual([]);
});
