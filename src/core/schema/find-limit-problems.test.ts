import { expect, test } from "vitest";

import { createSlowEngine } from "./engine.ts";
import { findLimitProblems } from "./find-problems.ts";
import type { JsonSchema } from "./json-schema.ts";

test.for<[schema: JsonSchema, value: unknown, expected: string, found: string]>([
  [{ minimum: 1 }, 0, "at least 1", "0"],
  [{ maximum: 1 }, 2, "at most 1", "2"],
  [{ exclusiveMinimum: 1 }, 1, "more than 1", "1"],
  [{ exclusiveMaximum: 1 }, 1, "less than 1", "1"],
  [{ multipleOf: 5 }, 3, "a multiple of 5", "3"],
  [{ minLength: 3 }, "ab", "at least 3 characters", '"ab"'],
  [{ maxLength: 1 }, "ab", "at most 1 character", '"ab"'],
  [{ pattern: "^a" }, "b", "text that matches /^a/", '"b"'],
  [{ format: "date" }, "b", "text in the format date", '"b"'],
  [{ minItems: 1 }, [], "at least 1 item", "an empty list"],
  [{ maxItems: 1 }, [1, 2], "at most 1 item", "a list of 2"],
  [{ uniqueItems: true }, [1, 1], "items that are all different", "a list of 2"],
  [{ minProperties: 2 }, { a: 1 }, "at least 2 properties", "1 property"],
  [{ maxProperties: 0 }, { a: 1 }, "at most 0 properties", "1 property"],
  [{ contains: { type: "string" } }, [1], "a list with at least 1 of a string", "a list of 1"],
  [
    { contains: { const: 1 }, minContains: 2, maxContains: 3 },
    [1],
    "a list with at least 2 and at most 3 of 1",
    "a list of 1",
  ],
])("findLimitProblems() says what %j wants instead of %j", ([schema, value, expected, found]) => {
  expect(findLimitProblems(createSlowEngine(schema), schema, value)).toEqual([{ expected, found }]);
});

test("findLimitProblems() finds all limits that are not kept, and none that are", () => {
  const schema = { minLength: 5, maxLength: 1, pattern: "^a", minimum: 3, minItems: 3, contains: { const: 1 } };

  expect(findLimitProblems(createSlowEngine(schema), schema, "ab").map(({ expected }) => expected)).toEqual([
    "at least 5 characters",
    "at most 1 character",
  ]);
});
