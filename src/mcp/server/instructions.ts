import type { McpExposure } from "./mcp-server-options.ts";

/** What a client is told of the server: short, because many put it before every conversation. */
export function renderInstructions(exposure: McpExposure, own: string | undefined): string {
  const skills =
    exposure === "direct"
      ? "Before work that a skill is for, read the skill first."
      : "Before work that a skill is for (list_skills), open it with activate_skill and follow its instructions.";
  const tools =
    exposure === "direct"
      ? undefined
      : "Every tool can be found with search_tools and called with call_tool, also one that your list does not show yet.";
  return [skills, tools, own].filter((line) => line !== undefined && line !== "").join("\n");
}
