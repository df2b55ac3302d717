import { expect, test } from "vitest";

import { convertTo } from "./coerce.ts";

test.for([
  ["number", "12", 12],
  ["number", " 12 ", 12],
  ["number", "-1.5", -1.5],
  ["number", "+3", 3],
  ["number", ".5", 0.5],
  ["number", "5.", 5],
  ["number", "1e3", 1000],
  ["number", "1E-2", 0.01],
  ["integer", "12", 12],
  ["integer", "3.0", 3],
  ["integer", "9007199254740991", 9_007_199_254_740_991],
  ["boolean", "true", true],
  ["boolean", " FALSE ", false],
  ["boolean", "yes", true],
  ["boolean", "No", false],
  ["boolean", 1, true],
  ["boolean", 0, false],
  ["string", 12, "12"],
  ["string", 1.5, "1.5"],
  ["string", true, "true"],
  ["array", "[1, 2]", [1, 2]],
  ["array", ' ["a"]', ["a"]],
  ["object", '{"a": {"b": 1}}', { a: { b: 1 } }],
] as const)("convertTo(%j, %j) is %j", ([type, value, converted]) => {
  expect(convertTo(type, value, 64)).toEqual(converted);
});

test.for([
  ["number", ""],
  ["number", " "],
  ["number", "."],
  ["number", "1e400"],
  ["number", "0x10"],
  ["number", "1_000"],
  ["number", "1,000"],
  ["number", "١٢"],
  ["number", "12px"],
  ["number", "NaN"],
  ["number", "Infinity"],
  ["number", "1 2"],
  ["number", "9007199254740993"],
  ["number", "1".repeat(65)],
  ["number", true],
  ["number", null],
  ["number", ["1"]],
  ["integer", "1.5"],
  ["integer", "1e300"],
  ["boolean", "1"],
  ["boolean", "on"],
  ["boolean", ""],
  ["boolean", "constructor"],
  ["boolean", "true".padEnd(100)],
  ["boolean", 2],
  ["boolean", null],
  ["string", null],
  ["string", ["a"]],
  ["string", { a: 1 }],
  ["array", "a, b"],
  ["array", "[1, 2"],
  ["array", '{"a": 1}'],
  ["array", 1],
  ["object", "[1]"],
  ["object", "{a: 1}"],
  ["object", '{"__proto__": {"a": 1}}'],
  ["object", '{"a": {"__proto__": 1}}'],
  ["object", 1],
  ["null", "null"],
  ["unknown", "a"],
] as const)("convertTo(%j, %j) is nothing", ([type, value]) => {
  expect(convertTo(type, value, 64)).toBeUndefined();
});

test("R11: convertTo() looks at a text of megabytes at once", () => {
  const digits = `${"1".repeat(10_000_000)}x`;

  expect(["number", "integer", "boolean", "array", "object"].map((type) => convertTo(type, digits, 64))).toEqual(
    Array(5).fill(undefined),
  );
  expect(convertTo("array", `[${digits}`, 64)).toBeUndefined();
});

test("R13: convertTo() reads no JSON that is deeper than a value may be", () => {
  const deep = (levels: number): string => "[".repeat(levels) + "]".repeat(levels);

  expect(convertTo("array", deep(3), 3)).toEqual([[[]]]);
  expect(convertTo("array", deep(4), 3)).toBeUndefined();
  expect(convertTo("array", deep(100_000), 64)).toBeUndefined();
});
