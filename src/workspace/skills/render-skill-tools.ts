import { renderSchema } from "../../core/schema/render-schema.ts";
import type { RegisteredTool } from "../registered-tool.ts";

/** How tools are written. */
export interface RenderToolsOptions {
  /** `compact` writes schemas as TypeScript would, in about a third of the tokens of JSON Schema. @default "compact" */
  readonly format?: "compact" | "json";
}

/** Writes the tools of open skills, in a section of its own, one part for each skill; empty if there are none. */
export function renderSkillTools(
  tools: readonly RegisteredTool[],
  { format = "compact" }: RenderToolsOptions = {},
): string {
  if (tools.length === 0) return "";
  const bySkill = Map.groupBy(tools, (entry) => entry.owner);
  const parts = [...bySkill].map(
    ([skill, own]) => `### ${skill}\n\n${own.map((entry) => renderTool(entry, format)).join("\n\n")}`,
  );
  return `## Tools of the open skills\n\n${parts.join("\n\n")}`;
}

function renderTool({ wireName, tool }: RegisteredTool, format: "compact" | "json"): string {
  const input = format === "json" ? JSON.stringify(tool.inputSchema) : renderSchema(tool.inputSchema);
  const output =
    tool.outputSchema === undefined
      ? ""
      : ` → ${format === "json" ? JSON.stringify(tool.outputSchema) : renderSchema(tool.outputSchema)}`;
  return `- ${wireName}: ${tool.description.replaceAll(/\s+/gu, " ").trim()}\n  ${input.replaceAll("\n", "\n  ")}${output.replaceAll("\n", "\n  ")}`;
}
