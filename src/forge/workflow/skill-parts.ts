import type { JsonObject } from "../../core/json.ts";
import type { Permissions } from "../../core/permissions.ts";
import type { ToolExample } from "../../core/tool.ts";
import type { CodeDraft, SkillDraft } from "../tool-draft.ts";

/** The steps in which a skill is made, in order. */
export const skillSteps = [
  "purpose",
  "name",
  "instructions",
  "tools",
  "permissions",
  "examples",
  "checks",
  "live",
] as const;

/** One of them. */
export type SkillStep = (typeof skillSteps)[number];

/** What was said and understood so far. */
export interface SkillParts {
  readonly purpose?: string;
  readonly name?: string;
  readonly instructions?: string;
  readonly tools?: readonly ToolPart[];
  readonly uses?: readonly string[];
  /** By the name of the tool. */
  readonly permissions?: Readonly<Record<string, Permissions>>;
  readonly examples?: Readonly<Record<string, readonly ToolExample[]>>;
}

/** A tool of the skill; what it may touch and its examples come later. */
export type ToolPart = Omit<CodeDraft, "examples" | "permissions">;

/** Something that is wrong, and which part has to change. */
export interface PartProblem {
  readonly part: SkillStep;
  readonly message: string;
}

/** The steps that are still to be done before it can be live. */
export function findMissing(parts: SkillParts): readonly SkillStep[] {
  const tools = parts.tools ?? [];
  const needs = (step: SkillStep): boolean => {
    if (step === "checks" || step === "live") return false;
    if (step === "permissions") return tools.length > 0 && parts.permissions === undefined;
    if (step === "examples") return tools.some(({ name }) => (findOwn(parts.examples, name) ?? []).length === 0);
    return parts[step] === undefined;
  };
  return skillSteps.filter(needs);
}

/** The draft that the parts make; what is missing is empty. */
export function toSkillDraft(parts: SkillParts): SkillDraft {
  const { name = "", purpose = "", instructions = "", tools = [], uses = [] } = parts;
  return {
    name,
    description: purpose,
    instructions,
    ...(tools.length > 0 && { tools: tools.map((tool) => toToolDraft(parts, tool)) }),
    ...(uses.length > 0 && { uses }),
  };
}

/** A tool of the skill with what was said of it in other steps. */
export function toToolDraft(parts: SkillParts, tool: ToolPart): CodeDraft {
  const permissions = findOwn(parts.permissions, tool.name);
  return {
    ...tool,
    examples: findOwn(parts.examples, tool.name) ?? [],
    ...(permissions !== undefined && { permissions }),
  };
}

/** What somebody said under this name, not what every object has. */
function findOwn<Value>(record: Readonly<Record<string, Value>> | undefined, name: string): Value | undefined {
  return record !== undefined && Object.hasOwn(record, name) ? record[name] : undefined;
}

/** In few words, what was understood: so that a mistake is seen at once. */
export function describeParts(parts: SkillParts): JsonObject {
  const { purpose, name, instructions, tools, uses, permissions, examples } = parts;
  return {
    ...(purpose !== undefined && { purpose }),
    ...(name !== undefined && { name }),
    ...(instructions !== undefined && {
      instructions: describeText(instructions),
    }),
    ...(tools !== undefined && { tools: tools.map((tool) => `${tool.name} (${tool.language}): ${tool.description}`) }),
    ...(uses !== undefined && { uses }),
    ...(permissions !== undefined && { permissions: permissions as JsonObject }),
    ...(examples !== undefined && {
      examples: Object.fromEntries(Object.entries(examples).map(([tool, list]) => [tool, list.length])),
    }),
  };
}

function describeText(text: string): string {
  const lines = text.split("\n").length;
  return `${lines} ${lines === 1 ? "line" : "lines"}, beginning with ${JSON.stringify(text.slice(0, 80))}`;
}
