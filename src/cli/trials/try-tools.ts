import { KitbagError, type Failure } from "../../core/errors.ts";
import { nearestNames } from "../../core/nearest.ts";
import type { Permissions } from "../../core/permissions.ts";
import type { Skill } from "../../core/skill.ts";
import {
  fuzzTool,
  tryExamples,
  type FuzzResult,
  type TriedExample,
  type TryCall,
} from "../../forge/trials/try-tool.ts";
import type { RegisteredTool } from "../../workspace/registered-tool.ts";
import type { Workspace } from "../../workspace/workspace.ts";
import type { Scratch } from "./scratch.ts";

/** What came of trying one tool. */
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
  /** Addresses of tools and names of skills. Without any, all are tried. */
  readonly names: readonly string[];
  readonly fuzz: { readonly count: number; readonly seed: number } | undefined;
  /** Where the tools work: nothing that they do there matters. */
  readonly scratch: Scratch;
  makeCall(entry: RegisteredTool): TryCall;
  onTool(address: string, done: number, total: number): void;
}

/** Tries all tools of a workspace; each skill is opened for its tools, and closed again. */
export async function tryTools(workspace: Workspace, options: TryOptions): Promise<readonly TestedTool[]> {
  const tested: TestedTool[] = [];
  const { names } = options;
  const isWanted = ({ address, owner }: RegisteredTool): boolean =>
    names.length === 0 || names.includes(address) || names.includes(owner);
  const free = workspace.getAvailableTools().filter((entry) => entry.source !== "skill" && isWanted(entry));
  const skills = findSkills(workspace, names);
  checkNames(workspace, names);
  const total = skills.reduce((sum, { tools }) => sum + tools.length, free.length);
  const tryAll = async (entries: readonly RegisteredTool[], folder?: string): Promise<void> => {
    for (const entry of entries) {
      options.onTool(entry.address, tested.length, total);
      tested.push(await tryOne(entry, options, folder));
    }
  };

  await tryAll(free);
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
function findSkills(workspace: Workspace, names: readonly string[]): readonly Skill[] {
  const skills = workspace.getSkills().map(({ skill }) => skill);
  const isNamed = ({ name }: Skill): boolean => names.some((word) => word === name || word.startsWith(`${name}/`));
  return names.length === 0 ? skills : skills.filter(isNamed);
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

async function tryOne(
  entry: RegisteredTool,
  { fuzz, makeCall, scratch }: TryOptions,
  folder: string | undefined,
): Promise<TestedTool> {
  const { tool, address } = entry;
  const call = makeCall(entry);
  const examples = await tryExamples(tool, call, {
    isComplete: scratch.hasFiles(folder),
    prepare: () => scratch.fill(folder),
  });
  scratch.fill(folder);
  const notFuzzed = fuzz === undefined ? undefined : findDanger(entry);
  const found = fuzz === undefined || notFuzzed !== undefined ? undefined : await fuzzTool(tool, call, fuzz);
  return {
    address,
    passed: examples.every(({ status }) => status !== "failed") && (found?.faults.length ?? 0) === 0,
    examples,
    ...(found !== undefined && { fuzz: found }),
    ...(notFuzzed !== undefined && { notFuzzed }),
  };
}

/** Why inputs by chance could do harm with a tool. */
function findDanger({ tool }: RegisteredTool): string | undefined {
  const { annotations, permissions, needsApproval, inject } = tool;
  if (annotations.destructive === true) return "it says that it destroys";
  if (needsApproval) return "it needs an approval";
  if (inject.length > 0) return `it needs ${inject.join(", ")}`;
  const beyond = (["write", "network", "env"] as const).find((kind) => hasAny(permissions, kind));
  return beyond === undefined ? undefined : `it may use ${beyond}: ${permissions[beyond]?.join(", ")}`;
}

function hasAny(permissions: Permissions, kind: keyof Permissions): boolean {
  return (permissions[kind]?.length ?? 0) > 0;
}
