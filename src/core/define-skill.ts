import { checkPartNames, type UncheckedParts } from "./check-tool.ts";
import { KitbagError, type Problem } from "./errors.ts";
import { isRecord, showValue } from "./json.ts";
import { isName, nameRule, parseAddress } from "./names.ts";
import { checkPermissions, type Permissions } from "./permissions.ts";
import type { Skill, SkillContext, ToolReuse, ToolUse } from "./skill.ts";
import type { Tool } from "./tool.ts";

/** What an author writes down to make a skill in TypeScript. */
export interface SkillDefinition {
  readonly name: string;
  readonly displayName?: string;
  readonly description: string;
  readonly version?: string;
  readonly capabilities?: readonly string[];
  /** How to work with it: what the model reads when the skill is opened. */
  readonly workDirection?: string;
  readonly tools?: readonly Tool[];
  /** Tools of others, as `other/tool` or `other/tool@^1.2`. */
  readonly uses?: readonly string[];
  readonly reuses?: readonly ReuseDefinition[];
  readonly requires?: readonly string[];
  readonly exclusive?: boolean;
  readonly permissions?: Permissions;
  /** @default true */
  readonly modelInvocable?: boolean;
  /** Runs before the tools appear; if it fails, nothing changes. */
  readonly onActivate?: (context: SkillContext) => unknown;
  /** Runs after the tools are gone. */
  readonly onDeactivate?: (context: SkillContext) => unknown;
}

/** Another skill's tool under an own name. */
export interface ReuseDefinition {
  readonly name: string;
  /** `other/tool` or `other/tool@^1.2`. */
  readonly uses: string;
  readonly description?: string;
  readonly locked?: Readonly<Record<string, unknown>>;
}

/**
 * Makes a skill. Its tools exist only while it is open.
 *
 * @throws {KitbagError} `skill-invalid` if the definition is wrong; its message names every place and what to change.
 *
 * @example
 * ```ts
 * import { createWorkspace, defineSkill, defineTool } from "kitbag";
 *
 * const roll = defineTool({ name: "roll", description: "Rolls a die", run: () => 4 });
 * const games = defineSkill({ name: "games", description: "Games of chance", tools: [roll] });
 * const workspace = createWorkspace({ skills: [games] });
 *
 * const closed = await workspace.call("games/roll");
 * console.assert(closed.status === "failed" && closed.error.code === "tool-unavailable");
 *
 * await workspace.activateSkill("games");
 * const open = await workspace.call("games/roll");
 * console.assert(open.status === "ok" && open.output === 4);
 * ```
 */
export function defineSkill(definition: SkillDefinition): Skill {
  const problems = checkShape(definition);
  if (problems.length > 0) throw new KitbagError("skill-invalid", { skill: showName(definition?.name), problems });
  checkWords(definition, problems);
  const uses = (definition.uses ?? []).map((text, index) => toToolUse(text, `uses[${index}]`, problems));
  const reuses = (definition.reuses ?? []).map((reuse, index) => toReuse(reuse, `reuses[${index}]`, problems));
  checkNames(definition, problems);
  if (problems.length > 0) throw new KitbagError("skill-invalid", { skill: showName(definition.name), problems });
  const { uses: _uses, reuses: _reuses, workDirection = "", tools = [], ...rest } = definition;
  return Object.freeze({
    ...defaults,
    ...rest,
    tools: tools.map((tool) => withVersion(tool, rest.version)),
    instructions: workDirection,
    uses: [...uses, ...reuses.map((reuse) => reuse.uses)],
    reuses,
  });
}

/** A tool without a version has that of its skill. */
function withVersion(tool: Tool, version: string | undefined): Tool {
  return version === undefined || tool.version !== undefined ? tool : Object.freeze({ ...tool, version });
}

const definitionParts = [
  "name",
  "displayName",
  "description",
  "version",
  "capabilities",
  "workDirection",
  "tools",
  "uses",
  "reuses",
  "requires",
  "exclusive",
  "permissions",
  "modelInvocable",
  "onActivate",
  "onDeactivate",
] as const satisfies readonly (keyof SkillDefinition)[];

const reuseParts = ["name", "uses", "description", "locked"] as const satisfies readonly (keyof ReuseDefinition)[];

const listParts = ["capabilities", "tools", "uses", "reuses", "requires"];

/** What is so wrong with a definition that it cannot be read at all. */
function checkShape(definition: unknown): Problem[] {
  if (!isRecord(definition)) {
    return [{ path: "", expected: "an object with name and description", found: showValue(definition) }];
  }
  const problems = checkPartNames(definition, definitionParts).map(adviseInstructions);
  for (const part of listParts) {
    const list = definition[part] ?? [];
    if (!Array.isArray(list)) problems.push({ path: part, expected: "a list", found: showValue(list) });
    else if (part === "reuses" && !list.every(isRecord)) {
      problems.push({ path: part, expected: "a list of objects", found: showValue(list) });
    } else if (part === "reuses") problems.push(...checkReuses(list));
  }
  return problems;
}

/** What the skill has as `instructions` has another name in its definition. */
function adviseInstructions(problem: Problem): Problem {
  return problem.path === "instructions" ? { ...problem, didYouMean: "workDirection" } : problem;
}

function checkReuses(reuses: readonly UncheckedParts[]): Problem[] {
  return reuses.flatMap((reuse, index) =>
    checkPartNames(reuse, reuseParts).map((problem) => ({
      ...problem,
      path: problem.path.startsWith("[") ? `reuses[${index}]${problem.path}` : `reuses[${index}].${problem.path}`,
    })),
  );
}

function showName(name: unknown): string {
  return typeof name === "string" ? name : showValue(name);
}

const defaults = {
  capabilities: [],
  tools: [],
  requires: [],
  exclusive: false,
  permissions: {},
  modelInvocable: true,
} as const;

/** Reads `other/tool@^1.2`; what is wrong goes to `problems`. */
export function toToolUse(text: unknown, path: string, problems: Problem[]): ToolUse {
  const [address = "", range] = typeof text === "string" ? splitRange(text) : [];
  try {
    parseAddress(address);
  } catch {
    problems.push({ path, expected: 'an address like "other/tool" or "other/tool@^1.2"', found: showValue(text) });
  }
  return { address: address.replace(/^plugin:/u, ""), ...(range !== undefined && { range }) };
}

function splitRange(text: string): [string, string?] {
  const at = text.indexOf("@");
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + 1)];
}

function toReuse(reuse: ReuseDefinition, path: string, problems: Problem[]): ToolReuse {
  if (!isName(reuse.name)) problems.push({ path: `${path}.name`, expected: nameRule, found: showValue(reuse.name) });
  const uses = toToolUse(reuse.uses, `${path}.uses`, problems);
  const { name, description, locked = {} } = reuse;
  return { name, uses, locked, ...(description !== undefined && { description }) };
}

function checkWords(definition: SkillDefinition, problems: Problem[]): void {
  const { name, description, version } = definition;
  const expect = (right: boolean, path: string, expected: string, found: unknown): void => {
    if (!right) problems.push({ path, expected, found: showValue(found) });
  };
  expect(isName(name) && name !== "global", "name", nameRule, name);
  expect(
    typeof description === "string" && description.trim() !== "",
    "description",
    "a text that says what the skill does",
    description,
  );
  expect(version === undefined || /^\d+\.\d+\.\d+/u.test(String(version)), "version", "a version like 1.2.0", version);
  for (const [index, required] of (definition.requires ?? []).entries()) {
    expect(isName(required) && required !== name, `requires[${index}]`, "the name of another skill", required);
  }
  for (const step of ["onActivate", "onDeactivate"] as const) {
    expect(
      definition[step] === undefined || typeof definition[step] === "function",
      step,
      "a function",
      definition[step],
    );
  }
  problems.push(...checkPermissions(definition.permissions ?? {}));
}

function checkNames({ tools = [], reuses = [] }: SkillDefinition, problems: Problem[]): void {
  const seen = new Set<string>();
  for (const [path, name] of [
    ...tools.map((tool, index) => [`tools[${index}]`, tool?.name] as const),
    ...reuses.map((reuse, index) => [`reuses[${index}]`, reuse.name] as const),
  ]) {
    if (seen.has(name))
      problems.push({ path, expected: "a name that no other tool of the skill has", found: showValue(name) });
    seen.add(name);
  }
}
