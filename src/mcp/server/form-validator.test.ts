import { AjvJsonSchemaValidator } from "@modelcontextprotocol/server/validators/ajv";
import { expect, test } from "vitest";

import { formValidator } from "./serve-client.ts";

const form = {
  type: "object",
  properties: {
    name: { type: "string", minLength: 2, maxLength: 5 },
    mail: { type: "string", format: "email" },
    site: { type: "string", format: "uri" },
    day: { type: "string", format: "date" },
    time: { type: "string", format: "date-time" },
    age: { type: "integer", minimum: 0, maximum: 150 },
    share: { type: "number", maximum: 1 },
    isSure: { type: "boolean" },
    color: { type: "string", enum: ["red", "green"] },
    size: {
      type: "string",
      oneOf: [
        { const: "s", title: "Small" },
        { const: "l", title: "Large" },
      ],
    },
    parts: { type: "array", items: { type: "string", enum: ["a", "b"] }, minItems: 1, maxItems: 2 },
  },
  required: ["name"],
} as const;

test.for([
  {},
  { name: "Ann" },
  { name: "A" },
  { name: "Annabel" },
  { name: 1 },
  { name: null },
  { name: "Ann", mail: "ann@example.com" },
  { name: "Ann", mail: "ann" },
  { name: "Ann", site: "https://example.com/a?b#c" },
  { name: "Ann", site: "example" },
  { name: "Ann", day: "2026-02-28" },
  { name: "Ann", day: "2026-02-30" },
  { name: "Ann", day: "today" },
  { name: "Ann", time: "2026-02-28T10:00:00Z" },
  { name: "Ann", time: "2026-02-28" },
  { name: "Ann", age: 3 },
  { name: "Ann", age: 3.5 },
  { name: "Ann", age: -1 },
  { name: "Ann", age: "3" },
  { name: "Ann", share: 0.5 },
  { name: "Ann", share: 1.5 },
  { name: "Ann", isSure: true },
  { name: "Ann", isSure: "true" },
  { name: "Ann", color: "red" },
  { name: "Ann", color: "blue" },
  { name: "Ann", size: "s" },
  { name: "Ann", size: "m" },
  { name: "Ann", parts: ["a", "b"] },
  { name: "Ann", parts: [] },
  { name: "Ann", parts: ["c"] },
  { name: "Ann", other: "more" },
  [],
  "Ann",
])("formValidator takes and refuses what the SDK's own validator does: %j", (content) => {
  const expected = new AjvJsonSchemaValidator().getValidator(form)(content);

  const { valid } = formValidator.getValidator(form)(content);

  expect(valid).toBe(expected.valid);
});

test("formValidator says what is wrong, and where", () => {
  const { errorMessage } = formValidator.getValidator(form)({ name: "Ann", age: 200 });

  expect(errorMessage).toMatchInlineSnapshot(`"age: expected at most 150, found 200"`);
});
