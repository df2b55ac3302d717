import type { Tool } from "../../core/tool.ts";
import { loadSkills } from "../../workspace/skills/folder-skills.ts";
import type { VersionStep } from "../forge-interface.ts";
import type { SkillDraft } from "../tool-draft.ts";
import { compareTools, type ToolChange } from "../versions/compare-tools.ts";
import { compareVersions, isVersion, nextVersion } from "../versions/next-version.ts";
import { newestOf } from "./skill-writer.ts";
import type { KeptSkill, StoredSkill } from "./stored-skill.ts";

/** The version of a skill that is new, or the next one, and how far it is from the one that it goes on from. */
export interface SkillChange {
  readonly version: string;
  readonly change?: { readonly from: string } & ToolChange;
}

/** Finds the version of a draft: the one that it says if that is newer than all, else what follows from its tools. */
export async function findSkillChange(
  { version: said }: SkillDraft,
  tools: readonly Tool[],
  { versions, current, history }: StoredSkill,
): Promise<SkillChange> {
  const taken = versions.map(({ label }) => label);
  const last = history.at(-1)?.version;
  const base = current ?? versions.find(({ label }) => label === last) ?? versions.at(-1);
  const newest = versions.find(({ label }) => label === newestOf(taken));
  if (base === undefined || newest === undefined) return { version: said ?? "1.0.0" };
  const change = { from: base.label, ...compareSkills(await loadKeptTools(base), tools) };
  if (isVersion(said) && compareVersions(said, newest.label) > 0) return { version: said, change };
  const since = newest === base ? change.step : compareSkills(await loadKeptTools(newest), tools).step;
  return { version: nextVersion({ base: base.label, step: change.step, taken, stepSince: () => since }), change };
}

/** Reads the tools of a version. Skills that are made have no code that would run for that. */
export async function loadKeptTools({ folder }: KeptSkill): Promise<readonly Tool[]> {
  const { reports } = await loadSkills({ directories: [folder.directory] });
  return reports[0]?.skill?.tools ?? [];
}

/**
 * For each of `tools` the one of its name in the last version of the skill that had it, also if the skill was deleted since: what one
 * version leaves out and the next one brings back is the same tool to whoever calls it.
 */
export async function loadLastTools(stored: StoredSkill, tools: readonly Tool[]): Promise<readonly Tool[]> {
  const missing = new Set(tools.map(({ name }) => name));
  const found: Tool[] = [];
  for (const version of latestFirst(stored)) {
    if (missing.size === 0) break;
    const had = (await loadKeptTools(version)).filter(({ name }) => missing.delete(name));
    found.push(...had);
  }
  return found;
}

/** The versions in the order in which they were live, which is not that of their labels after a rollback. */
function latestFirst({ current, history, versions }: StoredSkill): readonly KeptSkill[] {
  const events = history.flatMap(({ version }) => versions.find(({ label }) => label === version) ?? []);
  const now = current === undefined ? [] : [current];
  return [...new Set([...now, ...events.toReversed(), ...versions.toReversed()])];
}

function compareSkills(before: readonly Tool[], after: readonly Tool[]): ToolChange {
  const changes: ToolChange[] = [
    ...before.filter((one) => !hasName(after, one)).map(({ name }) => toChange("major", `the tool ${name} is gone`)),
    ...after.filter((one) => !hasName(before, one)).map(({ name }) => toChange("minor", `the tool ${name} is new`)),
    ...before.flatMap((one) => {
      const other = after.find(({ name }) => name === one.name);
      if (other === undefined) return [];
      const { step, reasons } = compareTools(one, other);
      return [{ step, reasons: reasons.map((reason) => `${one.name}: ${reason}`) }];
    }),
  ];
  const step = steps.find((one) => changes.some((change) => change.step === one)) ?? "patch";
  const reasons = changes.filter((change) => change.step === step).flatMap((change) => change.reasons);
  return step === "patch" ? toChange("patch", "its tools take and give the same") : { step, reasons };
}

const steps: readonly VersionStep[] = ["major", "minor", "patch"];

function hasName(tools: readonly Tool[], { name }: Tool): boolean {
  return tools.some((tool) => tool.name === name);
}

function toChange(step: VersionStep, reason: string): ToolChange {
  return { step, reasons: [reason] };
}
