import { estimateTokens } from "../../core/estimate-tokens.ts";
import type { Skill } from "../../core/skill.ts";
import type { RegisteredTool } from "../registered-tool.ts";

/** About how many tokens a tool's definition costs in each request to a model. */
export function toolTokens({ tool, wireName }: Pick<RegisteredTool, "tool" | "wireName">): number {
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

/** Estimates what a skill costs. Runs nothing: what commands in its text would print is not counted. */
export function skillTokens(skill: Skill, tools: readonly Pick<RegisteredTool, "tool" | "wireName">[]): SkillTokens {
  const { name, description, folder, instructions, render } = skill;
  return {
    listed: estimateTokens(`${name}\n${description}\n${folder === undefined ? "" : `${folder.directory}/SKILL.md`}`),
    opened: estimateTokens(render?.("") ?? instructions),
    tools: tools.reduce((sum, found) => sum + toolTokens(found), 0),
  };
}
