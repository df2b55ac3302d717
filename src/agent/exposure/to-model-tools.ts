import type { LanguageModelV4FunctionTool } from "@ai-sdk/provider";

import type { ModelTool } from "../../models/model.ts";
import type { DispatchTool } from "../../workspace/dispatch/dispatch-tool.ts";
import type { RegisteredTool } from "../../workspace/registered-tool.ts";

const made = new WeakMap<object, ModelTool>();

/** A tool as a model sees it; made once for each tool that is registered. */
export function toModelTool(entry: RegisteredTool): ModelTool {
  let tool = made.get(entry);
  if (tool === undefined) {
    const { wireName: name, tool: of } = entry;
    const inputExamples = of.examples.map(({ input }) => ({ input })) as LanguageModelV4FunctionTool["inputExamples"] &
      object;
    const { description } = of;
    const inputSchema = of.inputSchema as ModelTool["inputSchema"];
    tool = { type: "function", name, description, inputSchema, ...(inputExamples.length > 0 && { inputExamples }) };
    made.set(entry, tool);
  }
  return tool;
}

/** A tool of Kitbag's own as a model sees it. */
export function toDispatchModelTool({ name, description, inputSchema }: DispatchTool): ModelTool {
  return { type: "function", name, description, inputSchema };
}
