import { cpSync, existsSync, mkdtempSync, readdirSync, realpathSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { type Failure, KitbagError } from "../../core/errors.ts";
import type { McpCode } from "../../core/mcp-source.ts";
import { nearestNames } from "../../core/nearest.ts";
import type { Skill } from "../../core/skill.ts";
import type { Tool } from "../../core/tool.ts";
import {
  type FuzzResult,
  fuzzTool,
  type TriedExample,
  type TryCall,
  tryExamples,
} from "../../forge/trials/try-tool.ts";
import type { ComposedCode } from "../../runtimes/pipeline/compose-tool.ts";
import type { PipelineCode } from "../../runtimes/pipeline/pipeline-runtime.ts";
import type { RegisteredTool } from "../../workspace/registry/registered-tool.ts";
import type { Workspace } from "../../workspace/workspace.ts";
import { openSkillOf } from "../skills/open-skill-of.ts";
import type { Terminal } from "../terminal.ts";

/** The result of trying one tool. */
export interface TestedTool {
  readonly address: string;
  readonly passed: boolean;
  readonly examples: readonly TriedExample[];
  readonly fuzz?: FuzzResult;
  /** Why no inputs were made for it, although they were wanted. */
  readonly notFuzzed?: string;
  /** Why its skill did not open. */
  readonly error?: Failure;
}

/** How tools are tried. */
export interface TryOptions {
  /** Addresses of tools and names of skills. @default all are tried */
  readonly names: readonly string[] | undefined;
  /** Makes inputs from the schemas. @default the examples are run instead */
  readonly fuzz?: { readonly count: number; readonly seed: number };
  /** Where the tools work: nothing that they do there matters. */
  readonly scratch: Scratch;
  /** Told what is wrong with closing the skills that a pipeline needs. */
  readonly terminal: Pick<Terminal, "note">;
  makeCall(entry: RegisteredTool): TryCall;
  onTool(address: string, done: number, total: number): void;
}

/** Tries all tools of a workspace; each skill is opened for its tools, and closed again. */
export async function tryTools(workspace: Workspace, options: TryOptions): Promise<readonly TestedTool[]> {
  const tested: TestedTool[] = [];
  const { names } = options;
  const isWanted = ({ address, owner }: RegisteredTool): boolean =>
    names === undefined || names.includes(address) || names.includes(owner);
  const free = workspace.getAvailableTools().filter((entry) => entry.source !== "skill" && isWanted(entry));
  const skills = findSkills(workspace, names);
  checkNames(workspace, names ?? []);
  const total = skills.reduce((sum, { tools }) => sum + tools.length, free.length);
  const tryAll = async (entries: readonly RegisteredTool[], folder?: string): Promise<void> => {
    for (const entry of entries) {
      options.onTool(entry.address, tested.length, total);
      const { fuzz } = options;
      const tried =
        fuzz === undefined
          ? runExamples(entry, options, folder)
          : makeInputs(entry, { ...options, fuzz, workspace, folder });
      tested.push(await tried);
    }
  };

  for (const entry of free) {
    const skills = await openSkillOf(workspace, entry.address, options.terminal);
    if (skills.status === "failed") {
      tested.push({ address: entry.address, passed: false, examples: [], error: skills.error });
      continue;
    }
    await tryAll([entry]);
    await skills.close();
  }
  for (const { name: skill, folder } of skills) {
    const opened = await workspace.activateSkill(skill);
    if (opened.status === "failed") {
      tested.push({ address: skill, passed: false, examples: [], error: opened.error });
      continue;
    }
    const open = workspace.getAvailableTools();
    const own = open.filter((entry) => entry.source === "skill" && entry.owner === skill && isWanted(entry));
    await tryAll(own, folder?.directory);
    await workspace.deactivateSkill(skill);
  }
  return tested;
}

/** The skills that are named, or that have a tool which is. */
function findSkills(workspace: Workspace, names: readonly string[] | undefined): readonly Skill[] {
  const skills = workspace.getSkills().map(({ skill }) => skill);
  const isNamed = ({ name }: Skill): boolean =>
    names?.some((word) => word === name || word.startsWith(`${name}/`)) ?? true;
  return skills.filter(isNamed);
}

/** @throws {KitbagError} `tool-not-found` if a name is neither that of a tool nor of a skill. */
function checkNames(workspace: Workspace, names: readonly string[]): void {
  const unknown = names.find((name) => workspace.getTool(name) === undefined && workspace.getSkill(name) === undefined);
  if (unknown === undefined) return;
  const skills = workspace.getSkills().flatMap(({ skill }) => [skill.name, ...toAddresses(skill)]);
  const known = [...workspace.getAvailableTools().map(({ address }) => address), ...skills];
  const nearest = nearestNames(unknown, known);
  throw new KitbagError("tool-not-found", { tool: unknown, nearest, count: known.length });
}

function toAddresses({ name, tools }: Skill): readonly string[] {
  return tools.map((tool) => `${name}/${tool.name}`);
}

async function runExamples(
  entry: RegisteredTool,
  { makeCall, scratch }: TryOptions,
  folder: string | undefined,
): Promise<TestedTool> {
  const examples = await tryExamples(entry.tool, makeCall(entry), {
    isComplete: scratch.hasFiles(folder),
    prepare: () => scratch.fill(folder),
  });
  return { address: entry.address, passed: examples.every(({ status }) => status !== "failed"), examples };
}

interface Fuzzing extends TryOptions {
  readonly fuzz: NonNullable<TryOptions["fuzz"]>;
  readonly workspace: Workspace;
  readonly folder: string | undefined;
}

async function makeInputs(entry: RegisteredTool, options: Fuzzing): Promise<TestedTool> {
  const { fuzz, makeCall, scratch, workspace, folder } = options;
  const { tool, address } = entry;
  const notFuzzed = findDanger(entry, workspace);
  if (notFuzzed !== undefined) return { address, passed: true, examples: [], notFuzzed };
  scratch.fill(folder);
  const found = await fuzzTool(tool, makeCall(entry), fuzz);
  return { address, passed: found.faults.length === 0, examples: [], fuzz: found };
}

/** Joins the results of the examples and of the generated inputs. */
export function joinTested(examples: readonly TestedTool[], made: readonly TestedTool[]): readonly TestedTool[] {
  const byAddress = new Map(made.map((one) => [one.address, one]));
  return examples.map((one) => {
    const { fuzz, notFuzzed, passed = true } = byAddress.get(one.address) ?? {};
    return {
      ...one,
      passed: one.passed && passed,
      ...(fuzz !== undefined && { fuzz }),
      ...(notFuzzed !== undefined && { notFuzzed }),
    };
  });
}

/** Why inputs by chance could do harm with a tool; nothing if they cannot. */
function findDanger(entry: RegisteredTool, workspace: Pick<Workspace, "getTool">): string | undefined {
  const { tool } = entry;
  const inside = tool.code.kind === "pipeline" ? findInSteps(entry, workspace, new Set()) : undefined;
  return inside ?? findInTool(tool);
}

function findInTool(tool: Tool): string | undefined {
  const { permissions, needsApproval, inject } = tool;
  const destroys = whyDestroys(tool);
  if (destroys !== undefined) return destroys;
  if (needsApproval) return "it needs an approval";
  if (inject.length > 0) return `it needs ${inject.join(", ")}`;
  const beyond = (["write", "network", "env"] as const).find((kind) => (permissions[kind]?.length ?? 0) > 0);
  return beyond === undefined ? undefined : `it may use ${beyond}: ${permissions[beyond]?.join(", ")}`;
}

/** Of some tools the worst is assumed by default: that is another reason than what an author says. */
function whyDestroys({ annotations, code }: Tool): string | undefined {
  if (code.kind === "pipeline") {
    const said = (code as PipelineCode).spec.annotations?.destructive === true;
    return said ? "it says that it destroys" : undefined;
  }
  if (annotations.destructive !== true) return undefined;
  if (code.kind === "mcp" && (code as McpCode).definition.annotations?.["destructiveHint"] !== true)
    return "its server does not say that it destroys nothing";
  const { parts = [] } = code as Partial<ComposedCode>;
  const part = parts.find((one) => one.annotations.destructive ?? one.annotations.readOnly !== true);
  if (part === undefined) return "it says that it destroys";
  const says =
    part.annotations.destructive === true ? "says that it destroys" : "does not say that it destroys nothing";
  return `its part ${part.name} ${says}`;
}

/** A pipeline is as dangerous as its steps. What they are is known only where all tools are. */
function findInSteps(
  { tool, owner, source }: RegisteredTool,
  workspace: Pick<Workspace, "getTool">,
  seen: Set<Tool>,
): string | undefined {
  if (seen.has(tool)) return undefined;
  seen.add(tool);
  for (const { tool: address } of (tool.code as PipelineCode).plan.steps) {
    const own = source === "global" || address.includes("/") ? undefined : workspace.getTool(`${owner}/${address}`);
    const step = own ?? workspace.getTool(address);
    if (step === undefined) return `its step ${address} is not there`;
    const inside = step.tool.code.kind === "pipeline" ? findInSteps(step, workspace, seen) : undefined;
    const danger = inside ?? findInTool(step.tool);
    if (danger !== undefined) return `its step ${address}: ${danger}`;
  }
  return undefined;
}

/** A working directory for tools that are tried. What is in the project stays as it is. */
interface Scratch {
  readonly directory: string;
  /** Tells whether a skill brings the files that its examples need. */
  hasFiles(skillFolder: string | undefined): boolean;
  /** Empties it, and puts the files in that the examples of a skill need. */
  fill(skillFolder: string | undefined): void;
  remove(): void;
}

/** Where a skill keeps the files that its examples need, as they lie in a working directory. */
const exampleFiles = "evals/files";

/** What becomes `.git` there: no repository can hold a folder of that name. */
const gitFolder = "dot-git";

/** Makes an empty working directory. */
export function createScratch(): Scratch {
  const directory = realpathSync.native(mkdtempSync(join(tmpdir(), "kitbag-test-")));
  const findFiles = (skillFolder: string | undefined): string | undefined => {
    const folder = skillFolder === undefined ? undefined : join(skillFolder, exampleFiles);
    return folder !== undefined && existsSync(folder) ? folder : undefined;
  };
  return {
    directory,
    hasFiles: (skillFolder) => findFiles(skillFolder) !== undefined,
    fill(skillFolder) {
      // The directory itself stays: sandboxes that wait for a call have it mounted.
      for (const name of readdirSync(directory)) rmSync(join(directory, name), { recursive: true, force: true });
      const files = findFiles(skillFolder);
      if (files === undefined) return;
      cpSync(files, directory, { recursive: true });
      const repository = join(directory, gitFolder);
      if (existsSync(repository)) renameSync(repository, join(directory, ".git"));
    },
    remove: () => rmSync(directory, { recursive: true, force: true }),
  };
}
