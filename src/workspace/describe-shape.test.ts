import { expect, test } from "vitest";

import type { JsonValue } from "../core/json.ts";
import { describeShape } from "./outputs/slice-output.ts";

test.for<[JsonValue, string]>([
  ["hello", "text of 5 characters"],
  [[], "an empty list"],
  [[1, 2], "a list of 2; the first is a number"],
  [[null], "a list of 1; the first is null"],
  [[[1], []], "a list of 2; the first is a list of 1"],
  [[{ id: 1, name: "x" }], "a list of 1; the first is an object with id, name"],
  [{}, "an object with no properties"],
  [{ a: 1, b: [] }, "an object with a, b"],
  [true, "a boolean"],
  [null, "null"],
])("describeShape() says what %o looks like", ([value, shape]) => {
  expect(describeShape(value)).toBe(shape);
});

test("describeShape() names only the first properties of many", () => {
  const many = Object.fromEntries(Array.from({ length: 1000 }, (_, index) => [`key${index}`, index]));

  const shape = describeShape(many);

  expect(shape).toMatch(/^an object with key0, key1, .* and 980 more$/u);
});
