import { expect, test } from "vitest";

import type { DoneCall, DoneResult } from "./conversation.ts";
import { renderResults } from "./render-results.ts";

test.each<[name: string, result: DoneResult | undefined, text: string]>([
  ["text as it is", { status: "ok", value: "two\nlines\n" }, "two\nlines"],
  ["nothing", { status: "ok", value: "" }, "Done."],
  ["null", { status: "ok", value: null }, "Done."],
  ["a number", { status: "ok", value: 42 }, "42"],
  [
    "an object as a list",
    { status: "ok", value: { total_rows: 2, tags: ["a", "b"], none: [] } },
    "- total rows: 2\n- tags: a, b\n- none: none",
  ],
  ["objects in objects", { status: "ok", value: { size: { width: 1 } } }, "- size:\n  - width: 1"],
  [
    "a list of objects as a table",
    { status: "ok", value: [{ a: 1, b: "x|y" }, { a: 2 }] },
    "| a   | b    |\n| --- | ---- |\n| 1   | x\\|y |\n| 2   |      |",
  ],
  ["an empty list", { status: "ok", value: [] }, "Nothing was found."],
  ["a failure", { status: "failed", value: "no such file: a.txt" }, "`t` failed: no such file: a.txt"],
  ["a failure as JSON", { status: "failed", value: { error: { message: "too late" } } }, "`t` failed: too late"],
  ["a denial", { status: "denied", value: "not today" }, "`t` was not allowed to run: not today"],
  ["no answer", undefined, "`t` has not answered."],
])("renderResults() shows %s", (_, result, text) => {
  expect(renderResults([call(result)])).toBe(text);
});

test("renderResults() numbers several results", () => {
  const text = renderResults([call({ status: "ok", value: "one" }), call({ status: "ok", value: "two" })]);

  expect(text).toBe("1. `t` (a: 1)\none\n\n2. `t` (a: 1)\ntwo");
});

test("renderResults() cuts what is too long to read", () => {
  const rows = Array.from({ length: 1000 }, (_, id) => ({ id }));

  const text = renderResults([call({ status: "ok", value: rows })]);

  expect(text.split("\n")).toHaveLength(33);
  expect(text).toMatch(/… and 970 more$/u);
  expect(renderResults([call({ status: "ok", value: "x".repeat(1e6) })])).toHaveLength(6000);
});

function call(result: DoneResult | undefined): DoneCall {
  return { id: "1", tool: "t", input: { a: 1 }, ...(result !== undefined && { result }) };
}
