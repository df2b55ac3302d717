import type { Tool } from "../../core/tool.ts";
import { loadSkills } from "../../workspace/skills/folder-skills.ts";
import type { VersionStep, RefusedTool, SkillChangeOptions, UpdateOptions } from "../forge-interface.ts";
import type { SkillDraft } from "../drafts/tool-draft.ts";
import { compareTools, type ToolChange } from "../versions/compare-tools.ts";
import { compareVersions, isVersion, nextVersion } from "../versions/next-version.ts";
import { newestOf, type KeptSkill, type StoredSkill, keepSkillByHand, toSkillConflict } from "./stored-skill.ts";
import { toRealPath } from "../../platform/paths.ts";
import { refuseDraft, refuseWith } from "../creation/answer.ts";
import { findTwin } from "../disk/tools-folder.ts";
import type { ForgeParts } from "../forge-parts.ts";

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
 * version leaves out and the next one brings back is the same tool to its callers.
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

/** Why a draft cannot have this name: there is a skill of it, which is not to be replaced, or was not made here. */
export function refuseSkillName(
  { workspace }: ForgeParts,
  stored: StoredSkill,
  { replace = false }: SkillChangeOptions,
): RefusedTool | undefined {
  const { name, live, versions, current } = stored;
  const refuse = (message: string): RefusedTool => toRefusal(name, "name-taken", message);
  const known = workspace.getSkills().map(({ skill }) => skill.name);
  const twin = findTwin(name, known);
  if (twin !== undefined && twin !== name)
    return refuse(`there is "${twin}", which is the same name where case does not count`);
  if (!known.includes(name) && live === undefined) return undefined;
  if (!isMade({ workspace }, stored)) {
    const place =
      live === undefined ? "there is already a skill of this name" : `.kitbag/skills/${name} is there already`;
    return refuse(replace ? `${place}, which was not made here; take another name` : `${place}; take another name`);
  }
  if (replace) return undefined;
  const version = current?.label ?? versions.at(-1)?.label ?? "";
  return refuse(
    `there is already a skill of this name (${version}); to make its next version give "replace": true, or take another name`,
  );
}

/** Tells whether a skill that is there was made here: it is in the folder of the forge, which has its versions. */
export function isMade(
  { workspace }: Pick<ForgeParts, "workspace">,
  { name, live, versions, target }: StoredSkill,
): boolean {
  const place = workspace.getSkill(name)?.folder?.directory;
  return live !== undefined && versions.length > 0 && (place === undefined || place === toRealPath(target));
}

/**
 * Settles what is there before it is changed: files that were edited by hand and trusted are kept as a version. Answers with the
 * refusal if they are not trusted, or if this is not the version that the editor saw.
 */
export async function refuseUnsettled(
  parts: ForgeParts,
  stored: StoredSkill,
  { expectedVersion }: UpdateOptions,
): Promise<StoredSkill | RefusedTool> {
  const { name, live, current } = stored;
  const isByHand = live !== undefined && current === undefined;
  if (isByHand && !parts.trust.mayRun(live)) {
    const place = `.kitbag/skills/${name}`;
    const message = `the files of ${place} were changed by hand and are not trusted; read them, then run: kitbag trust ${place}`;
    return toRefusal(name, "skill-untrusted", message);
  }
  const settled = isByHand ? await keepSkillByHand(parts, stored, live) : stored;
  const label = settled.current?.label ?? "none";
  if (expectedVersion === undefined || expectedVersion === label) return settled;
  return refuseWith(name, toSkillConflict(settled, expectedVersion));
}

function toRefusal(name: string, code: string, message: string): RefusedTool {
  return refuseDraft(name, [{ severity: "error", code, message, file: "draft" }]);
}
