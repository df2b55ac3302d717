import { isOfType, wantedTypes } from "./json-schema.ts";
import { expect, test } from "vitest";

test("wantedTypes() gives the types that a schema names", () => {
  expect(wantedTypes({ type: "string" })).toEqual(["string"]);
  expect(wantedTypes({ type: ["string", "null"] })).toEqual(["string", "null"]);
  expect(wantedTypes({})).toEqual([]);
});

test.for([
  ["null", "null"],
  ["array", "[] [1]"],
  ["object", '{} {"a":1}'],
  ["integer", "1 -5"],
  ["number", "1 -5 1.5"],
  ["string", '"" "a"'],
  ["boolean", "true false"],
] as const)("isOfType(%j) is true for %s and nothing else", ([type, right]) => {
  const values = [null, [], [1], {}, { a: 1 }, 1, -5, 1.5, "", "a", true, false];

  const found = values.filter((value) => isOfType(type, value)).map((value) => JSON.stringify(value));

  expect(found.join(" ")).toBe(right);
});
