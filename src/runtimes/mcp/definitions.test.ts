import { expect, test } from "vitest";

import { readDefinitions } from "./definitions.ts";

const region = { type: "string", "x-mcp-header": "Region" };

test.for<[what: string, schema: object, reason: string | undefined]>([
  ["on a parameter", { properties: { region } }, undefined],
  ["on a part of a parameter", { properties: { a: { type: "object", properties: { region } } } }, undefined],
  ["as the name of a parameter", { properties: { "x-mcp-header": { type: "number" } } }, undefined],
  ["in a default", { properties: { a: { type: "object", default: { "x-mcp-header": 1 } } } }, undefined],
  ["at the root", { "x-mcp-header": "A" }, "at a place other than a parameter"],
  ["in a list", { properties: { a: { type: "array", items: region } } }, "at a place other than a parameter"],
  ["in a definition", { $defs: { region } }, "at a place other than a parameter"],
  ["in a choice", { anyOf: [{ properties: { region } }] }, "at a place other than a parameter"],
  ["with a blank", { properties: { a: { type: "string", "x-mcp-header": "a b" } } }, "is no name of a header"],
  [
    "with a line break",
    { properties: { a: { type: "string", "x-mcp-header": "a\r\nb: c" } } },
    "is no name of a header",
  ],
  ["that is empty", { properties: { a: { type: "string", "x-mcp-header": "" } } }, "is no name of a header"],
  ["on a number", { properties: { a: { type: "number", "x-mcp-header": "A" } } }, "not on a string, an integer"],
  ["on an object", { properties: { a: { type: "object", "x-mcp-header": "A" } } }, "not on a string, an integer"],
  ["twice", { properties: { a: region, b: { ...region, "x-mcp-header": "REGION" } } }, "two parameters have"],
])("readDefinitions() looks at an x-mcp-header %s", ([, schema, reason]) => {
  const { tools, refused } = readDefinitions([{ name: "it", inputSchema: { type: "object", ...schema } }]);

  expect([...tools.keys()]).toEqual(reason === undefined ? ["it"] : []);
  expect(refused.map((one) => one.reason).join("")).toContain(reason ?? "");
});
