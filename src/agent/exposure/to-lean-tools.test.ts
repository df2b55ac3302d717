import { expect, test } from "vitest";

import { defineTool } from "../../core/define-tool.ts";
import type { JsonSchema } from "../../core/schema/json-schema.ts";
import { createWorkspace } from "../../workspace/create-workspace.ts";
import { toLeanTools } from "./announce-tools.ts";
import { toModelTool } from "./to-model-tools.ts";

const reference = { type: "string", description: "Number of the invoice" };

test("toLeanTools() says of a parameter that several tools have what it is once", () => {
  const tools = lean([
    { reference, status: { type: "string", description: "What to list" } },
    { reference, status: { type: "string", description: "What to read" } },
  ]);

  expect(tools).toEqual([
    { reference, status: { type: "string", description: "What to list" } },
    { reference: { type: "string" }, status: { type: "string", description: "What to read" } },
  ]);
});

test("toLeanTools() keeps the words of a parameter that only looks like another", () => {
  const number = { ...reference, type: "number" };

  const tools = lean([{ reference }, { other: reference }, { reference: number }]);

  expect(tools).toEqual([{ reference }, { other: reference }, { reference: number }]);
});

test("toLeanTools() takes any schema as it is, and changes none", () => {
  const schemas = [{ type: "object", properties: { yes: true, __proto__x: false } }, { type: "object" }];
  const entries = register(schemas);
  const before = JSON.stringify(entries.map(toModelTool));

  const tools = toLeanTools([...entries, ...entries]);

  expect(tools.map((tool) => tool.type === "function" && tool.inputSchema)).toEqual([...schemas, ...schemas]);
  expect(JSON.stringify(entries.map(toModelTool))).toBe(before);
});

function lean(properties: readonly object[]): readonly unknown[] {
  const tools = toLeanTools(register(properties.map((of) => ({ type: "object", properties: of }))));
  return tools.map((tool) => tool.type === "function" && tool.inputSchema.properties);
}

function register(schemas: readonly object[]) {
  const tools = schemas.map((input, index) =>
    defineTool({ name: `tool-${index}`, description: "Does it", input: input as JsonSchema, run: () => 1 }),
  );
  return createWorkspace({ tools }).openSession().getAvailableTools();
}
