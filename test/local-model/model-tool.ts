import type { ModelTool } from "kitbag/models";

/** A tool as a model is shown it. */
export function modelTool(
  name: string,
  description: string,
  properties: Readonly<Record<string, object>>,
  required: readonly string[],
): ModelTool {
  return {
    type: "function",
    name,
    description,
    inputSchema: { type: "object", properties, required: [...required] },
  };
}
