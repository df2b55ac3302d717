import type { JsonObject } from "../../core/json.ts";
import { parseInput } from "../run/parse-input.ts";
import type { CostKind } from "./cost-row.ts";

/** Whom tokens are put down to. */
export interface CostHolder {
  readonly kind: CostKind;
  readonly name: string;
  readonly skill?: string;
}

/** What nobody else is answerable for: what people and the model say. */
export const conversation: CostHolder = { kind: "conversation", name: "conversation" };

/** What the agent says about itself. */
export const instructions: CostHolder = { kind: "instructions", name: "instructions" };

/** Tools that are about a skill, by the part of their input that names it. */
const aboutSkills: ReadonlyMap<string, string> = new Map([
  ["activate_skill", "name"],
  ["deactivate_skill", "name"],
  ["read_skill", "name"],
  ["read_skill_file", "skill"],
]);

/** Whom a call is put down to: the tool, also if it was called through `call_tool`, or the skill that it opens, closes or reads. */
export function holderOfCall(toolName: string, input: unknown): CostHolder {
  const facts = ((typeof input === "string" ? parseInput(input).input : input) ?? {}) as JsonObject;
  const key = aboutSkills.get(toolName);
  if (key !== undefined) {
    const name = facts[key];
    return typeof name === "string" ? { kind: "skill", name } : { kind: "tool", name: toolName };
  }
  const { name } = facts;
  return toTool(toolName === "call_tool" && typeof name === "string" ? name : toolName);
}

/** Other tools of Kitbag's own. */
const ownTools: ReadonlySet<string> = new Set(["call_tool", "describe_tool", "list_skills", "search_tools"]);

/** Whom the definition of a tool is put down to: those of Kitbag's own are a part of how it works. */
export function holderOfTool(toolName: string): CostHolder {
  return aboutSkills.has(toolName) || ownTools.has(toolName) ? instructions : toTool(toolName);
}

/** A tool by its address: on the wire it is `owner__name`. */
function toTool(toolName: string): CostHolder {
  const [, owner, name] = /^([^/_](?:[^/_]|_(?!_))*)(?:__|\/)(.+)$/su.exec(toolName) ?? [];
  if (owner === undefined || name === undefined) return { kind: "tool", name: toolName };
  return { kind: "tool", name: `${owner}/${name}`, skill: owner };
}
