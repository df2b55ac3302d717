import { expect, test } from "vitest";

import type { JsonValue } from "../../core/json.ts";
import { parseTemplate, longestText, renderTemplate } from "./template.ts";

const values = {
  input: { name: "Ada", list: [1, [2, 3]], none: null, "any key": true, flag: false, zero: 0 },
  text: "plain",
} as const;

test.for<[JsonValue, JsonValue | undefined]>([
  ["$input.name", "Ada"],
  ["$input.list", [1, [2, 3]]],
  ["$input.list[1][0]", 2],
  ["$input.list.length", 2],
  ['$input["any key"]', true],
  ["$input.zero", 0],
  ["$input.none", null],
  ["$text", "plain"],
  ["$input.missing", undefined],
  ["$input.name.first", undefined],
  ["$input.none.first", undefined],
  ["$input.list[9]", undefined],
  ["$input[0]", undefined],
  ["$nobody", undefined],
  ["$input.constructor", undefined],
  ["$input.__proto__", undefined],
  ["$input.list.map", undefined],
  ["$text.length", undefined],
  ["Hello $input.name!", "Hello Ada!"],
  ["$input.list and $input.flag", "[1,[2,3]] and false"],
  ["<$input.none|$input.missing>", "<|>"],
  [
    { a: "$input.name", b: "$input.missing", c: ["$input.missing"] },
    { a: "Ada", c: [null] },
  ],
  [{ nested: { deep: ["$input.zero"] } }, { nested: { deep: [0] } }],
  [{ $input: 1 }, { $input: 1 }],
])("renderTemplate(%j) is %j", ([source, expected]) => {
  const rendered = renderTemplate(parseTemplate(source), (root) => (values as Record<string, JsonValue>)[root]);

  expect(rendered).toEqual(expected);
});

test("renderTemplate() ends before a few references make a text of any size", () => {
  const big = "x".repeat(1024 * 1024);
  const template = parseTemplate({ a: "$big $big", b: ["$big ".repeat(1000)] });

  expect(() => renderTemplate(template, () => big)).toThrow(`longer than ${longestText} characters`);
});
