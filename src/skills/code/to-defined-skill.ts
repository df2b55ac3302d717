import { asTool } from "../../core/check-tool.ts";
import { KitbagError, type Problem } from "../../core/errors.ts";
import { isRecord, showValue } from "../../core/json.ts";
import { isName, nameRule } from "../../core/names.ts";
import { checkPermissions } from "../../core/permissions.ts";
import type { Skill } from "../../core/skill.ts";

/** What the code of a skill may say about it: everything but where it is and whether it is trusted. */
export type DefinedSkill = Omit<
  Skill,
  "author" | "declared" | "folder" | "earlier" | "leftOut" | "servers" | "commands" | "render" | "mentions"
>;

/** What code that says nothing would define. */
export const emptyDefined: DefinedSkill = {
  name: "",
  description: "",
  capabilities: [],
  instructions: "",
  tools: [],
  uses: [],
  reuses: [],
  requires: [],
  exclusive: false,
  permissions: {},
  modelInvocable: true,
};

const isText = (value: unknown): boolean => typeof value === "string";
const isFlag = (value: unknown): boolean => typeof value === "boolean";
const isTexts = (value: unknown): boolean => Array.isArray(value) && value.every(isText);
const isOptionalText = (value: unknown): boolean => value === undefined || isText(value);
const isStep = (value: unknown): boolean => value === undefined || typeof value === "function";

const expectations: Readonly<Record<keyof DefinedSkill, readonly [(value: unknown) => boolean, string]>> = {
  name: [isName, nameRule],
  displayName: [isOptionalText, "a text"],
  description: [(value) => typeof value === "string" && value.trim() !== "", "a text that says what the skill does"],
  version: [isOptionalText, "a version like 1.2.0"],
  capabilities: [isTexts, "a list of texts"],
  instructions: [isText, "a text"],
  tools: [Array.isArray, "a list of tools"],
  uses: [(value) => Array.isArray(value) && value.every(isUse), "a list of tools of others"],
  reuses: [(value) => Array.isArray(value) && value.every(isReuse), "a list of tools of others"],
  requires: [isTexts, "a list of names of skills"],
  exclusive: [isFlag, "true or false"],
  permissions: [isRecord, "an object"],
  modelInvocable: [isFlag, "true or false"],
  onActivate: [isStep, "a function"],
  onDeactivate: [isStep, "a function"],
};

/**
 * Takes a skill out of what its code exports. Code can export anything, also what only looks like a skill; nothing else of it is
 * taken over.
 *
 * @throws {KitbagError} `skill-invalid` if it is not what `defineSkill` makes; `tool-invalid` if one of its tools is invalid.
 */
export function toDefinedSkill(exported: unknown, skill: string): DefinedSkill {
  // What `defineSkill` makes has instructions; what goes into it has none.
  if (!isRecord(exported) || typeof exported["instructions"] !== "string") {
    const found = exported === undefined ? "no default export" : showValue(exported);
    const expected = "export default defineSkill({ name, description, tools, … })";
    throw new KitbagError("skill-invalid", { skill, problems: [{ path: "", expected, found }] });
  }
  const names = Object.keys(expectations).filter((name) => exported[name] !== undefined);
  const copy = Object.fromEntries(names.map((name) => [name, exported[name]]));
  const problems = Object.entries(expectations).flatMap(([path, [isRight, expected]]): Problem[] =>
    isRight(copy[path]) ? [] : [{ path, expected, found: showValue(copy[path]) }],
  );
  if (problems.length === 0) problems.push(...checkPermissions(copy["permissions"]));
  if (problems.length > 0) throw new KitbagError("skill-invalid", { skill, problems });
  return { ...(copy as unknown as DefinedSkill), tools: (copy["tools"] as unknown[]).map(asTool) };
}

function isUse(value: unknown): boolean {
  return isRecord(value) && isText(value["address"]) && isOptionalText(value["range"]);
}

function isReuse(value: unknown): boolean {
  return isRecord(value) && isName(value["name"]) && isUse(value["uses"]) && isRecord(value["locked"]);
}
