import { expect, test } from "vitest";

import { describeChoices, describeNames, describeSchema } from "./describe-schema.ts";

test.for([
  [{}, "anything"],
  [true, "anything"],
  [undefined, "anything"],
  [false, "nothing"],
  [{ type: "string" }, "a string"],
  [{ type: "integer" }, "a whole number"],
  [{ type: "boolean" }, "true or false"],
  [{ type: "unheard-of" }, "anything"],
  [{ type: ["string", "null"] }, "a string or null"],
  [{ type: "object", required: ["a"] }, "an object"],
  [{ enum: ["a", 1, null] }, 'one of "a", 1, null'],
  [{ const: "a" }, '"a"'],
  [{ type: "array" }, "a list"],
  [{ type: "array", items: {} }, "a list"],
  [{ type: "array", items: true }, "a list"],
  [{ type: "array", items: { type: "string" } }, "a list of strings"],
  [{ type: "array", items: { type: "object", required: ["a"] } }, "a list of objects"],
  [{ type: "array", items: { type: "array", items: { type: "number" } } }, "a list of lists"],
  [{ type: "array", items: { type: "unheard-of" } }, "a list of things"],
  [{ type: "array", items: { type: "string", enum: ["a", "b"] } }, 'a list, each item one of "a", "b"'],
  [{ type: "array", items: { type: ["string", "number"] } }, "a list, each item a string or a number"],
  [{ anyOf: [{ type: "string" }, { type: "number" }] }, "a string or a number"],
  [{ oneOf: [{ type: "string" }, { type: "string", minLength: 1 }] }, "a string"],
  [
    {
      anyOf: [
        { type: "object", required: ["radius"] },
        { type: "object", required: ["width", "height"] },
        { type: "object" },
      ],
    },
    "an object with radius or an object with width, height or an object",
  ],
  [
    { anyOf: [{ anyOf: [{ type: "array", items: { anyOf: [{ type: "null" }] } }, { type: "null" }] }] },
    "a list or null",
  ],
  [{ anyOf: [{ anyOf: [{ anyOf: [{ type: "null" }] }] }] }, "anything"],
] as const)("describeSchema(%j) is %j", ([schema, words]) => {
  expect(describeSchema(schema)).toBe(words);
});

test("describeChoices() lists all of a few values, and the first of many", () => {
  const choices = Array.from({ length: 34 }, (_, index) => index);

  expect(describeChoices(choices.slice(0, 14))).toBe("one of 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13");
  expect(describeChoices(choices)).toMatch(/^one of 0, .*, 30, 31, 2 more$/u);
});

test("describeNames() lists names, odd ones in quotes, and the first dozen of many", () => {
  const names = ["path", "odd name", "\u202eevil", ...Array.from({ length: 12 }, (_, index) => `n${index}`)];

  expect(describeNames(names)).toBe(
    String.raw`path, ["odd name"], ["\u202eevil"], n0, n1, n2, n3, n4, n5, n6, n7, n8, 3 more`,
  );
});
