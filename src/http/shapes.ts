/** Parts of the API's schemas that several operations share. They are written `as const`: types are made from them. */
import type { Skill } from "../core/skill.ts";
import type { JsonValue } from "../core/json.ts";
import type { RegisteredTool } from "../workspace/registry/registered-tool.ts";

const text = { type: "string" } as const;

/** The schema of a tool in lists. */
export const toolShape = {
  type: "object",
  properties: {
    address: { ...text, description: "skill/tool, or the bare name of a tool of the workspace" },
    wireName: { ...text, description: "The name that models see" },
    title: text,
    description: text,
    source: { enum: ["component", "skill", "global"] },
    owner: text,
    version: text,
    annotations: {},
  },
  required: ["address", "wireName", "description", "source", "owner", "annotations"],
} as const;

/** The schema of a skill in lists. */
export const skillShape = {
  type: "object",
  properties: {
    name: text,
    displayName: text,
    description: text,
    version: text,
    open: { type: "boolean" },
    tools: { type: "array", items: text, description: "Addresses of its tools" },
  },
  required: ["name", "description", "open", "tools"],
} as const;

/** One page of a list is enough for all of these. */
export function listOf<const Shape>(
  name: string,
  items: Shape,
): {
  readonly type: "object";
  readonly properties: {
    readonly items: { readonly type: "array"; readonly items: Shape; readonly description: string };
  };
  readonly required: readonly ["items"];
} {
  return {
    type: "object",
    properties: { items: { type: "array", items, description: name } },
    required: ["items"],
  };
}

/** What the API says of a tool. */
export function toToolSummary({ tool, address, wireName, source, owner }: RegisteredTool): {
  readonly address: string;
  readonly wireName: string;
  readonly description: string;
  readonly source: RegisteredTool["source"];
  readonly owner: string;
  readonly annotations: JsonValue;
} {
  return {
    address,
    wireName,
    ...(tool.title !== undefined && { title: tool.title }),
    description: tool.description,
    source,
    owner,
    ...(tool.version !== undefined && { version: tool.version }),
    annotations: { ...tool.annotations },
  };
}

/** What the API says of a skill. */
export function toSkillSummary(
  skill: Skill,
  open: boolean,
): { readonly name: string; readonly description: string; readonly open: boolean; readonly tools: readonly string[] } {
  return {
    name: skill.name,
    ...(skill.displayName !== undefined && { displayName: skill.displayName }),
    description: skill.description,
    ...(skill.version !== undefined && { version: skill.version }),
    open,
    tools: skill.tools.map((tool) => `${skill.name}/${tool.name}`),
  };
}
