import fc from "fast-check";
import { expect, test } from "vitest";

import { hasUniqueItems } from "./engine.ts";

test.for([
  ["an empty list", [], true],
  ["texts", ["a", "b"], true],
  ["a text twice", ["a", "b", "a"], false],
  ["a number and its text", [1, "1", true, "true", null, "null"], true],
  ["zeros", [0, -0], false],
  ["an object and its text", [{ a: 1 }, '{"a":1}'], true],
  [
    "objects with their keys in another order",
    [
      { a: 1, b: [2] },
      { b: [2], a: 1 },
    ],
    false,
  ],
  ["lists in another order", [[1, 2], [2, 1], []], true],
  ["deep ones", [{ a: [{ b: null }] }, { a: [{ b: null }] }], false],
  ["no list", "aa", true],
] as const)("hasUniqueItems() looks at %s", ([, value, isUnique]) => {
  expect(hasUniqueItems(value)).toBe(isUnique);
});

test("hasUniqueItems() says the same as comparing all items with each other", () => {
  const item = fc.jsonValue({ maxDepth: 2 });
  fc.assert(
    fc.property(fc.array(item, { maxLength: 6 }), fc.nat({ max: 10 }), (items, index) => {
      const list = index < items.length ? [...items, structuredClone(items[index])] : items;
      const isDouble = list.some((one, at) => list.slice(at + 1).some((other) => isSame(one, other)));

      expect(hasUniqueItems(list)).toBe(!isDouble);
    }),
  );
});

function isSame(left: unknown, right: unknown): boolean {
  if (typeof left !== "object" || left === null || typeof right !== "object" || right === null) return left === right;
  if (Array.isArray(left) !== Array.isArray(right)) return false;
  const keys = Object.keys(left);
  return (
    keys.length === Object.keys(right).length &&
    keys.every((key) => Object.hasOwn(right, key) && isSame(Reflect.get(left, key), Reflect.get(right, key)))
  );
}
