import { expect, test } from "vitest";

import { renderTable } from "./render.ts";

test("renderTable() aligns columns, also of wide characters and marks", () => {
  const table = render([
    ["add", "Adds"],
    ["日本語", "Japanese"],
    ["e\u0301te\u0301", "with marks"],
    ["🎒", "a bag"],
  ]);

  expect(table).toBe(
    ["TOOL    TEXT", "add     Adds", "日本語  Japanese", "e\u0301te\u0301     with marks", "🎒      a bag"].join("\n"),
  );
});

test("renderTable() cuts lines where the screen ends, and never in the middle of a wide character", () => {
  const table = render([["add", "日本語日本語"]], 12);

  expect(table).toBe(["TOOL  TEXT", "add   日本…"].join("\n"));
});

test("renderTable() shows control characters and keeps a cell on one line", () => {
  const table = render([["x", "one\ntwo\u001B[2J"]]);

  expect(table).toBe(["TOOL  TEXT", String.raw`x     one two\u001b[2J`].join("\n"));
});

test("renderTable() lays out no rows and 100,000 rows", () => {
  const rows = Array.from({ length: 100_000 }, (_, index) => [`tool-${index}`, "text"]);

  expect(render([])).toBe("TOOL  TEXT");
  expect(render(rows).split("\n")).toHaveLength(100_001);
});

function render(rows: readonly (readonly string[])[], columns?: number): string {
  return renderTable(["TOOL", "TEXT"], rows, { columns, style: (_style, text) => text });
}
