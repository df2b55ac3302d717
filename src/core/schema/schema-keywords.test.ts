import { expect, test } from "vitest";

import { checkKeyword } from "./check-schema.ts";

test.for([
  ["minimum", [0, -1.5], ["1", null, true]],
  ["multipleOf", [0.1, 3], [0, -1, "1"]],
  ["minLength", [0, 3], [-1, 1.5, "1"]],
  ["maxContains", [0, 3], [-1, null]],
  ["description", ["", "a"], [1, {}]],
  ["$ref", ["#"], [1, null]],
  ["uniqueItems", [true, false], ["true", 1]],
  ["properties", [{}], [[], null, "a", true]],
  ["patternProperties", [{}], [[]]],
  ["$defs", [{}], [[]]],
  ["anyOf", [[{}]], [[], {}, "a"]],
  ["prefixItems", [[{}]], [[], {}]],
  ["required", [[], ["a"]], ["a", [1], {}]],
  ["dependentRequired", [{}, { a: ["b"] }], [[], { a: "b" }, { a: [1] }]],
  ["enum", [[1], [null, {}]], [[], {}, "a"]],
  ["type", ["string", ["string", "null"]], ["text", "String", [], ["string", "text"], null, { a: 1 }]],
] as const)("checkKeyword() knows what %s may be", ([keyword, right, wrong]) => {
  expect(right.filter((value) => checkKeyword(keyword, value, false) !== undefined)).toEqual([]);
  expect(wrong.filter((value) => checkKeyword(keyword, value, false) === undefined)).toEqual([]);
});

test("R14: checkKeyword() takes an enum of 1,000 values and not one more", () => {
  const choices = Array.from({ length: 1001 }, (_, index) => index);

  expect(checkKeyword("enum", choices.slice(1), false)).toBeUndefined();
  expect(checkKeyword("enum", choices, false)).toBe("a list of 1 to 1000 values");
});

test("checkKeyword() says what a keyword may be", () => {
  expect(checkKeyword("type", "text", false)).toBe(
    "one of string, number, integer, boolean, object, array, null, or a list of them",
  );
});

test("checkKeyword() takes keywords that nobody knows, also those that objects inherit", () => {
  expect(
    ["x-order", "examples", "constructor", "toString", "__proto__"].map((word) => checkKeyword(word, 1, false)),
  ).toEqual(Array(5).fill(undefined));
});

test("checkKeyword() refuses references that only an engine would follow", () => {
  expect(
    ["$dynamicRef", "$dynamicAnchor", "$recursiveRef", "$recursiveAnchor"].map((word) =>
      checkKeyword(word, "#a", false),
    ),
  ).toEqual(Array(4).fill("a $ref instead"));
});

test("checkKeyword() takes $id at the root only", () => {
  expect(checkKeyword("$id", "https://example.com/a", true)).toBeUndefined();
  expect(checkKeyword("$id", "https://example.com/a", false)).toContain("no $id inside");
});
