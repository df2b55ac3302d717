import type { JsonSchema } from "../../core/schema/json-schema.ts";
import { isSchemaObject } from "../../core/schema/json-schema.ts";
import type { RegisteredTool } from "../../workspace/registered-tool.ts";
import type { ModelTool } from "../../models/model.ts";
import { toModelTool } from "./to-model-tools.ts";

/**
 * Tools that a model is shown together, each as short as the others allow: tools of one skill have parameters in common, and what was
 * said of one is not said again of the same one of another tool.
 */
export function toLeanTools(entries: readonly RegisteredTool[]): readonly ModelTool[] {
  const said = new Set<string>();
  return entries.map((entry) => {
    const tool = toModelTool(entry);
    return tool.type === "function"
      ? { ...tool, inputSchema: toLeanSchema(tool.inputSchema as JsonSchema, said) }
      : tool;
  });
}

function toLeanSchema(schema: JsonSchema, said: Set<string>): JsonSchema {
  const { properties } = schema;
  if (!isSchemaObject(properties)) return schema;
  const lean = Object.entries(properties).map(([name, property]) => {
    const whole = `${name} ${JSON.stringify(property)}`;
    const isNew = !said.has(whole);
    said.add(whole);
    return [name, isNew ? property : withoutDescription(property)];
  });
  return { ...schema, properties: Object.fromEntries(lean) };
}

function withoutDescription(property: unknown): unknown {
  if (!isSchemaObject(property)) return property;
  const { description: _said, ...rest } = property;
  return rest;
}
