import fc from "fast-check";
import { expect, test } from "vitest";

import { toCanonicalJson, type JsonValue } from "../../core/json.ts";
import { toOrderedCopy } from "./audit-entry.ts";

test("toOrderedCopy() gives what JSON.stringify() writes as canonical JSON, or nothing", () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 4 }), (value) => {
      const copy = toOrderedCopy(value as JsonValue);

      if (copy !== undefined) expect(JSON.stringify(copy)).toBe(toCanonicalJson(value as JsonValue));
    }),
    { numRuns: 1000 },
  );
});

test.for<[string, JsonValue]>([
  ["keys", { b: 1, a: { d: [{ f: 1, e: 2 }], c: null }, Z: "x", "": 0 }],
  ["keys behind ASCII", { "€": 1, "\r": 2, דּ: 3, ö: 4, "😀": 5 }],
  ["keys that methods have", { valueOf: 1, constructor: 2, toString: 3 }],
  ["a list", [3, "a", { b: 1, a: [] }]],
  ["a text", "a\ud800\u2028"],
])("toOrderedCopy() puts %s into order", ([, value]) => {
  expect(JSON.stringify(toOrderedCopy(value))).toBe(toCanonicalJson(value));
});

test.for<[string, JsonValue]>([
  ["an object", { 10: 1, 9: 2 }],
  ["an object inside one", { a: { 1: 1 } }],
  ["a list", [{ a: 1 }, { 0: 1 }]],
])("toOrderedCopy() gives nothing for %s whose keys are numbers", ([, value]) => {
  expect(toOrderedCopy(value)).toBeUndefined();
});

test("toOrderedCopy() gives nothing for a key that would be lost", () => {
  const value = JSON.parse('{"a":{"__proto__":{"b":1}}}') as JsonValue;

  expect(toOrderedCopy(value)).toBeUndefined();
});
