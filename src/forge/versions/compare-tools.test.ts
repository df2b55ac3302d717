import { expect, test } from "vitest";

import { createTool, type ToolParts } from "../../core/define-tool.ts";
import { compareTools } from "./compare-tools.ts";

const text = { type: "string" } as const;
const object = (properties: object, required: string[] = [], rest: object = {}): never =>
  ({ type: "object", properties, required, ...rest }) as never;

type Part = Partial<ToolParts>;

test.for<[string, Part, Part]>([
  ["other code", {}, {}],
  ["another description", {}, { description: "Says hello to somebody" }],
  ["words of a schema", { input: object({ a: text }) }, { input: object({ a: { ...text, description: "A name" } }) }],
  ["fewer permissions", { permissions: { network: ["a.example"] } }, {}],
  ["more examples", {}, { examples: [{ input: {} }] }],
  [
    "another order of what is required",
    { input: object({ a: text, b: text }, ["a", "b"]) },
    { input: object({ a: text, b: text }, ["b", "a"]) },
  ],
])("compareTools() calls %s a patch", ([, before, after]) => {
  expect(compareTools(tool(before), tool(after)).step).toBe("patch");
});

test.for<[string, Part, Part]>([
  ["a parameter more", { input: object({ a: text }) }, { input: object({ a: text, b: text }) }],
  ["a parameter that is no longer required", { input: object({ a: text }, ["a"]) }, { input: object({ a: text }) }],
  ["a wider type", { input: object({ a: { type: "integer" } }) }, { input: object({ a: { type: "number" } }) }],
  [
    "a wider limit",
    { input: object({ a: { ...text, maxLength: 5 } }) },
    { input: object({ a: { ...text, maxLength: 9 } }) },
  ],
  ["one value more", { input: object({ a: { enum: ["x"] } }) }, { input: object({ a: { enum: ["x", "y"] } }) }],
  [
    "values that become any text",
    { input: object({ a: { type: "string", enum: ["x"] } }) },
    { input: object({ a: text }) },
  ],
  ["more in the output", { output: object({ a: text }) }, { output: object({ a: text, b: text }) }],
  ["an output that is always there", { output: object({ a: text }) }, { output: object({ a: text }, ["a"]) }],
  ["any items", { input: object({ a: { type: "array", items: text } }) }, { input: object({ a: { type: "array" } }) }],
])("compareTools() calls %s minor", ([, before, after]) => {
  expect(compareTools(tool(before), tool(after))).toMatchObject({ step: "minor" });
});

test.for<[string, Part, Part, string]>([
  ["a new required parameter", { input: object({}) }, { input: object({ a: text }, ["a"]) }, "input: a is required"],
  ["a parameter less", { input: object({ a: text }) }, { input: object({}) }, "input: a is gone"],
  [
    "another type",
    { input: object({ a: text }) },
    { input: object({ a: { type: "number" } }) },
    "input: a was string and is number",
  ],
  [
    "a type where there was none",
    { input: object({ a: {} }) },
    { input: object({ a: text }) },
    "input: a was anything and is string",
  ],
  [
    "a stricter limit",
    { input: object({ a: text }) },
    { input: object({ a: { ...text, maxLength: 9 } }) },
    "input: a has a stricter maxLength",
  ],
  [
    "one value less",
    { input: object({ a: { enum: ["x", "y"] } }) },
    { input: object({ a: { enum: ["x"] } }) },
    'input: a no longer has "y"',
  ],
  [
    "only some values",
    { input: object({ a: text }) },
    { input: object({ a: { ...text, enum: ["x"] } }) },
    "input: a takes only some values",
  ],
  [
    "a pattern",
    { input: object({ a: text }) },
    { input: object({ a: { ...text, pattern: "^a$" } }) },
    "input: a has another pattern",
  ],
  [
    "something inside",
    { input: object({ a: object({ b: text }) }) },
    { input: object({ a: object({}) }) },
    "input: a.b is gone",
  ],
  [
    "items",
    { input: object({ a: { type: "array" } }) },
    { input: object({ a: { type: "array", items: text } }) },
    "input: a[] is restricted",
  ],
  [
    "a closed object",
    { input: object({}, [], { additionalProperties: true }) },
    { input: object({}) },
    "input: it takes no other properties",
  ],
  [
    "less in the output",
    { output: object({ a: text }, ["a"]) },
    { output: object({}) },
    "output, as it was promised: a is required",
  ],
  ["text that becomes JSON", {}, { output: object({}) }, "output, as it was promised: it was text and is JSON"],
  ["JSON that becomes text", { output: object({}) }, {}, "output, as it was promised: it was JSON and is text"],
  ["wider permissions", {}, { permissions: { network: ["a.example"] } }, "it may touch more: network a.example"],
  ["no longer read-only", { annotations: { readOnly: true } }, {}, "it is no longer read-only"],
  ["no longer idempotent", { annotations: { idempotent: true } }, {}, "it is no longer idempotent"],
  ["destructive", {}, { annotations: { destructive: true } }, "it is destructive now"],
])("compareTools() calls %s major and says why", ([, before, after, reason]) => {
  const { step, reasons } = compareTools(tool(before), tool(after));

  expect(step).toBe("major");
  expect(reasons).toContain(reason);
});

function tool(parts: Part): ReturnType<typeof createTool> {
  return createTool({ name: "greet", description: "Says hello", code: { kind: "script" }, ...parts });
}
