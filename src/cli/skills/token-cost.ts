import { estimateTokens } from "../../core/estimate-tokens.ts";
import type { RegisteredTool } from "../../workspace/registered-tool.ts";
import type { Workspace } from "../../workspace/workspace.ts";

/** About how many tokens a tool's definition costs in each request to a model. */
export function toolTokens({ tool, wireName }: RegisteredTool): number {
  const { description, inputSchema } = tool;
  return estimateTokens(JSON.stringify({ name: wireName, description, input_schema: inputSchema }));
}

/** About how many tokens a skill costs. */
export interface SkillTokens {
  /** Always: its line in the list of skills. */
  readonly listed: number;
  /** When it is opened: its instructions. */
  readonly opened: number;
  /** While it is open: the definitions of its tools. */
  readonly tools: number;
}

/** Estimates what a skill of `workspace` costs. */
export function skillTokens(workspace: Workspace, name: string, tools: readonly RegisteredTool[]): SkillTokens {
  const { description = "", folder } = workspace.getSkill(name) ?? {};
  return {
    listed: estimateTokens(`${name}\n${description}\n${folder === undefined ? "" : `${folder.directory}/SKILL.md`}`),
    opened: estimateTokens(workspace.invokeSkill(name)),
    tools: tools.reduce((sum, found) => sum + toolTokens(found), 0),
  };
}
