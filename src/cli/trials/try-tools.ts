import type { Failure } from "../../core/errors.ts";
import type { Permissions } from "../../core/permissions.ts";
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
  readonly fuzz: { readonly count: number; readonly seed: number } | undefined;
  /** Where the tools work: nothing that they do there matters. */
  readonly scratch: Scratch;
  makeCall(entry: RegisteredTool): TryCall;
  onTool(address: string, done: number, total: number): void;
}

/** Tries all tools of a workspace; each skill is opened for its tools, and closed again. */
export async function tryTools(workspace: Workspace, options: TryOptions): Promise<readonly TestedTool[]> {
  const tested: TestedTool[] = [];
  const free = workspace.getAvailableTools().filter(({ source }) => source !== "skill");
  const skills = workspace.getSkills().map(({ skill }) => skill);
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
    const own = workspace.getAvailableTools().filter((entry) => entry.source === "skill" && entry.owner === skill);
    await tryAll(own, folder?.directory);
    await workspace.deactivateSkill(skill);
  }
  return tested;
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
