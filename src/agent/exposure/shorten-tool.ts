import type { DispatchTool } from "../../workspace/dispatch/dispatch-tool.ts";
import { tellActivation } from "./tell-activation.ts";

/** Leaves out of a tool of Kitbag's own what is of no use where tools come into the list as soon as their skill is opened. */
export function shortenTool(tool: DispatchTool): DispatchTool {
  if (tool.name === "activate_skill") return tellActivation(withoutTools(tool));
  if (tool.name !== "search_tools") return tool;
  const { detail: _detail, ...properties } = tool.inputSchema["properties"] as Readonly<Record<string, object>>;
  return { ...tool, inputSchema: { ...tool.inputSchema, properties } };
}

/** The tools of a skill that a model sees in its list need not be declared again when the skill is opened. */
function withoutTools(tool: DispatchTool): DispatchTool {
  return {
    ...tool,
    async run(input, options) {
      const outcome = await tool.run(input, options);
      return outcome.status === "failed"
        ? outcome
        : { ...outcome, output: { ...(outcome.output as object), tools: [] } };
    },
  };
}
