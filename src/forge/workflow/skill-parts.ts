import type { JsonObject } from "../../core/json.ts";
import { type Permissions, permissionKinds } from "../../core/permissions.ts";
import type { ToolExample } from "../../core/tool.ts";
import type { CodeDraft, SkillDraft } from "../drafts/tool-draft.ts";
import { describeProblem } from "../../core/errors.ts";
import { checkStrictly } from "../../core/schema/validator.ts";
import { checkDraft } from "../drafts/check-draft.ts";
import { refuseName } from "../disk/tools-folder.ts";
import { defaultPolicy } from "../forge-parts.ts";

/** The steps in which a skill is made, in order. */
const skillSteps = ["purpose", "name", "instructions", "tools", "permissions", "examples", "checks", "live"] as const;

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
type ToolPart = Omit<CodeDraft, "examples" | "permissions">;

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
function toToolDraft(parts: SkillParts, tool: ToolPart): CodeDraft {
  const permissions = findOwn(parts.permissions, tool.name);
  return {
    ...tool,
    examples: findOwn(parts.examples, tool.name) ?? [],
    ...(permissions !== undefined && { permissions }),
  };
}

/** The value that was given under this name, not what every object has. */
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

/** What a caller says in one step: any of the parts, also ones that were said before. */
export interface GivenParts extends Omit<SkillParts, "tools"> {
  /** Tools may come with their permissions and examples. */
  readonly tools?: readonly (ToolPart & Partial<Pick<CodeDraft, "permissions" | "examples">>)[];
}

/** What became of it. A part that is wrong is not taken: the one before stays. */
interface TakenParts {
  readonly parts: SkillParts;
  readonly problems: readonly PartProblem[];
}

/** Takes what was said into what is there. `taken` are the names of skills that are there already. */
export function takeParts(before: SkillParts, given: GivenParts, taken: readonly string[]): TakenParts {
  const problems: PartProblem[] = [];
  let parts = before;
  const take = (part: SkillStep, next: SkillParts, wrong: readonly string[]): void => {
    if (wrong.length === 0) parts = { ...parts, ...next };
    problems.push(...wrong.map((message) => ({ part, message })));
  };
  const { purpose, name, instructions, uses, tools, permissions, examples } = spread(given);
  if (purpose !== undefined) take("purpose", { purpose: purpose.trim() }, refusePurpose(purpose));
  if (name !== undefined) take("name", { name }, refuseSkillName(name, taken));
  if (instructions !== undefined) {
    take("instructions", { instructions }, instructions.trim() === "" ? ["instructions: they are empty"] : []);
  }
  if (uses !== undefined) take("tools", { uses }, []);
  if (tools !== undefined) take("tools", { tools }, tools.flatMap(refuseTool));
  if (permissions !== undefined) {
    const next = { permissions: { ...parts.permissions, ...permissions } };
    take("permissions", next, refusePermissions(parts, permissions));
  }
  if (examples !== undefined) {
    take("examples", { examples: { ...parts.examples, ...examples } }, refuseExamples(parts, examples));
  }
  return { parts: keepKnown(parts), problems };
}

/** What tools bring with them stands where it belongs. */
function spread(given: GivenParts): SkillParts {
  const tools = given.tools?.map((tool): ToolPart => {
    const { permissions: _, examples: __, ...rest } = tool;
    return rest;
  });
  const brought = (given.tools ?? []).flatMap(({ name, permissions }) => (permissions ? [[name, permissions]] : []));
  const shown = (given.tools ?? []).flatMap(({ name, examples }) => (examples ? [[name, examples]] : []));
  return {
    ...given,
    tools,
    ...(brought.length > 0 && { permissions: { ...Object.fromEntries(brought), ...given.permissions } }),
    ...(shown.length > 0 && { examples: { ...Object.fromEntries(shown), ...given.examples } }),
  } as SkillParts;
}

/** What was said of tools that are gone goes with them. */
function keepKnown(parts: SkillParts): SkillParts {
  if (parts.tools === undefined) return parts;
  const names = new Set(parts.tools.map(({ name }) => name));
  const keep = <Value>(record: Readonly<Record<string, Value>>): Readonly<Record<string, Value>> =>
    Object.fromEntries(Object.entries(record).filter(([name]) => names.has(name)));
  return {
    ...parts,
    ...(parts.permissions !== undefined && { permissions: keep(parts.permissions) }),
    ...(parts.examples !== undefined && { examples: keep(parts.examples) }),
  };
}

const longestPurpose = 1024;

function refusePurpose(purpose: string): readonly string[] {
  const length = purpose.trim().length;
  if (length === 0) return ["purpose: say what the skill does and when to use it"];
  if (length > longestPurpose) return [`purpose: it has ${length} characters, and ${longestPurpose} may be`];
  return /[<>]/u.test(purpose) ? ["purpose: write it without < and >"] : [];
}

const nameForm = /^[a-z0-9]+(?:-[a-z0-9]+)*$/u;

function refuseSkillName(name: string, taken: readonly string[]): readonly string[] {
  const wrong = refuseName(name);
  if (wrong !== undefined) return [`name: ${wrong}`];
  if (!nameForm.test(name)) return ["name: lower-case letters, digits and single dashes between them"];
  return taken.includes(name) ? ["name: there is already a skill of this name; take another one"] : [];
}

/** The checks of the forge, with an example in the place of those that come later. */
function refuseTool(tool: ToolPart): readonly string[] {
  const checked = checkDraft({ ...tool, examples: [{ input: {} }] }, defaultPolicy);
  return checked.ok ? [] : checked.diagnostics.map(({ message }) => `tools, ${tool.name}: ${message}`);
}

function refusePermissions(parts: SkillParts, given: NonNullable<SkillParts["permissions"]>): readonly string[] {
  return Object.entries(given).flatMap(([name, permissions]) => {
    if (!isTool(parts, name)) return [`permissions: there is no tool ${JSON.stringify(name)} in this skill`];
    const unknown = Object.keys(permissions).filter((kind) => !permissionKinds.some((one) => one === kind));
    return unknown.map((kind) => `permissions, ${name}: ${kind} is not one of ${permissionKinds.join(", ")}`);
  });
}

function refuseExamples(parts: SkillParts, given: NonNullable<SkillParts["examples"]>): readonly string[] {
  return Object.entries(given).flatMap(([name, examples]) => {
    const tool = (parts.tools ?? []).find((one) => one.name === name);
    if (tool === undefined) return [`examples: there is no tool ${JSON.stringify(name)} in this skill`];
    const checked = checkDraft({ ...toToolDraft(parts, tool), examples }, defaultPolicy);
    if (!checked.ok) return checked.diagnostics.map(({ message }) => `examples, ${name}: ${message}`);
    return examples.flatMap((example, index) => refuseInput(tool, example, `examples, ${name}[${index}]`));
  });
}

function refuseInput({ input }: ToolPart, example: ToolExample, where: string): readonly string[] {
  if (input === undefined) return [];
  return checkStrictly(input, example.input).map((problem) => `${where}.input: ${describeProblem(problem)}`);
}

function isTool(parts: SkillParts, name: string): boolean {
  return (parts.tools ?? []).some((tool) => tool.name === name);
}
