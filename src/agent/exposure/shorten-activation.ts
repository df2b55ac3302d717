import type { JsonObject, JsonValue } from "../../core/json.ts";
import type { DispatchTool } from "../../workspace/dispatch/dispatch-tool.ts";

/** The tools of a skill that a model sees in its list need not be declared again when the skill is opened: their names do. */
export function shortenActivation(tool: DispatchTool): DispatchTool {
  if (tool.name !== "activate_skill") return tool;
  return {
    ...tool,
    async run(input, options) {
      const outcome = await tool.run(input, options);
      if (outcome.status === "failed") return outcome;
      const { tools = [], ...others } = outcome.output as JsonObject;
      const names = (tools as readonly JsonObject[]).map(({ name }) => name as JsonValue);
      return { ...outcome, output: { ...others, tools: names } };
    },
  };
}
