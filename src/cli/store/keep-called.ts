import type { Skill } from "../../core/skill.ts";
import type { Store } from "../../core/store.ts";
import { toDigest, toNotes, type VersionSource } from "../../records/versions/history.ts";
import { createVersions, type Versions } from "../../records/versions/versions.ts";
import type { RegisteredTool } from "../../workspace/registry/registered-tool.ts";
import { fromSkill, fromTool } from "../../workspace/versions/keep-versions.ts";
import type { Workspace } from "../../workspace/workspace.ts";

/** Where versions are kept, and for whom. */
export interface KeepPlace {
  readonly store: Store;
  /** The caller, who is taken for the author of the version. */
  readonly author: string | undefined;
  readonly onError: (cause: unknown, address: string) => void;
}

/**
 * Keeps the versions of what was live with a tool that was called. What cannot be kept is told: the call that it belongs to is
 * recorded all the same, with its digest. A call of an earlier version (`tool@1.0.0`) does not make that the current one.
 */
export async function keepCalled(
  { tools, skill, earlier }: Called,
  { store, author, onError }: KeepPlace,
): Promise<void> {
  const versions = createVersions(store);
  const keep = async (name: string, source: VersionSource, label: string | undefined): Promise<void> => {
    await versions.keep(name, source, toNotes({ label, author })).catch((cause: unknown) => onError(cause, name));
  };
  const keepTool = ({ address, tool }: RegisteredTool): Promise<void> => keep(address, fromTool(tool), tool.version);
  if (earlier !== undefined && !(await isKept(versions, earlier))) await keepTool(earlier);
  for (const tool of tools) await keepTool(tool);
  if (skill !== undefined) await keep(skill.name, fromSkill(skill), skill.version);
}

async function isKept(versions: Versions, { address, tool }: RegisteredTool): Promise<boolean> {
  const digest = toDigest(fromTool(tool));
  return (await versions.list(address)).some((version) => version.digest === digest);
}

/** What is live with a tool that is called. */
interface Called {
  /** The tool; of one of a skill also its other tools. */
  readonly tools: readonly RegisteredTool[];
  readonly skill: Skill | undefined;
  /** The tool that was called, if it is not the live one but an earlier version. */
  readonly earlier?: RegisteredTool | undefined;
}

/** Calls `listener` at the first call of each tool, and at the first after the workspace changed. */
export function onCalled(workspace: Workspace, listener: (called: Called) => void): void {
  const known = new Set<string>();
  workspace.onChange(() => known.clear());
  // A skill that only an agent has open does not change the available tools.
  workspace.onSkillsChange(() => known.clear());
  workspace.onEvent((event) => {
    if (event.type !== "call-start" || known.has(event.tool)) return;
    known.add(event.tool);
    const called = findCalled(workspace, event.tool);
    if (called !== undefined) listener(called);
  });
}

/** Finds what is live with a tool, as it is now; nothing if there is no such tool. */
function findCalled(workspace: Workspace, address: string): Called | undefined {
  const called = workspace.getTool(address);
  if (called === undefined) return undefined;
  const skill = called.source === "skill" ? workspace.getSkill(called.owner) : undefined;
  const live = workspace.getTool(called.address) ?? called;
  const earlier = live.tool === called.tool ? undefined : called;
  if (skill === undefined) return { tools: [live], skill, earlier };
  const open = workspace.getAvailableTools().filter(({ owner }) => owner === skill.name);
  if (open.length > 0) return { tools: open, skill };
  // An agent opens skills for itself: in the workspace they stay closed.
  return { tools: skill.tools.flatMap(({ name }) => workspace.getTool(`${skill.name}/${name}`) ?? []), skill };
}
