import type { JSONObject, LanguageModelV4FunctionTool } from "@ai-sdk/provider";

import { toVisibleText } from "../../core/hidden-characters.ts";
import type { JsonSchema } from "../../core/schema/json-schema.ts";
import type { ModelTool } from "../../models/model.ts";
import type { RegisteredTool } from "../../workspace/registry/registered-tool.ts";
import { compactSchema } from "./compact-schema.ts";

const made = new WeakMap<object, ModelTool>();

/** A tool as a model sees it; made once for each tool that is registered. */
export function toModelTool(entry: RegisteredTool): ModelTool {
  let tool = made.get(entry);
  if (tool === undefined) {
    const { wireName: name, tool: of } = entry;
    tool = {
      ...describe(name, of.description, of.inputSchema),
      ...toExamples(of.examples),
    };
    made.set(entry, tool);
  }
  return tool;
}

/** What is said of a tool of Kitbag's own. */
interface Described {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonSchema;
}

/** A tool of Kitbag's own as a model sees it. */
export function toDispatchModelTool({ name, description, inputSchema }: Described): ModelTool {
  return describe(name, description, inputSchema);
}

function describe(name: string, description: string, schema: JsonSchema): ModelTool {
  return { type: "function", name, description: toVisibleText(description), inputSchema: compactSchema(schema) };
}

function toExamples(examples: RegisteredTool["tool"]["examples"]): Pick<LanguageModelV4FunctionTool, "inputExamples"> {
  if (examples.length === 0) return {};
  return {
    inputExamples: examples.map(({ input }) => ({ input: input as JSONObject })),
  };
}
