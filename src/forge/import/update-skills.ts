import { KitbagError } from "../../core/errors.ts";
import { nearestNames } from "../../core/nearest.ts";
import { loadLock } from "../../skills/trust/lock-file.ts";
import type { LockedSkill, LockedSource } from "../../skills/trust/lock-format.ts";
import type { GatheredSource } from "./gather-source.ts";
import { gatherSource } from "./gather-source.ts";
import type { ImportCandidate, LoadedCandidate } from "./import-candidate.ts";
import { finishImport, toShown, type ImportOptions, type ImportReport } from "./import-skills.ts";
import { fromLocked, showSource } from "./import-source.ts";
import { importFolders, openProject, type ImportProject } from "./open-project.ts";
import { toCandidates } from "./to-candidates.ts";

/** How imported skills are brought up to date. */
export type UpdateSkillsOptions = Omit<
  ImportOptions,
  "skills" | "plugins" | "choose" | "replace" | "allowLocal" | "workingDirectory"
>;

/** What became of one imported skill. */
export interface SkillUpdate {
  readonly name: string;
  readonly source: string;
  /**
   * `same`: there is nothing new. `gone`: its source does not have it any more. `failed`: its source could not be fetched. `refused`:
   * it was not approved, and all is as it was. `disabled` and `enabled`: it was replaced.
   */
  readonly status: "same" | "gone" | "failed" | "refused" | "disabled" | "enabled";
  /** Why it failed; or that it was changed here, though there is nothing new. */
  readonly reason?: string;
  /** What its source has now, and how that differs. */
  readonly candidate?: ImportCandidate;
}

/**
 * Fetches imported skills again, shows what is different, and replaces those that are approved. The old version is kept in the
 * store, if there is one. Without `approve` what was replaced stays disabled.
 *
 * @param names Those to update; all that were imported into the project, if no names are given.
 * @throws {KitbagError} `import-failed` if none of this name was imported; `config-invalid` as `importSkills`. A source that cannot be
 *   fetched is no reason to leave out the others: that is in its answer.
 *
 * @example
 * ```ts
 * import { mkdtempSync, writeFileSync } from "node:fs";
 * import { tmpdir } from "node:os";
 * import { join } from "node:path";
 * import { importSkills, updateSkills } from "kitbag/forge";
 *
 * const [directory = "", source = ""] = ["project", "source"].map((name) => mkdtempSync(join(tmpdir(), name)));
 * const home = join(directory, "home");
 * writeFileSync(join(source, "SKILL.md"), "---\nname: greet\ndescription: Says hello\n---\nSay hello.\n");
 * await importSkills(source, { directory, home, approve: () => true });
 * const [update] = await updateSkills([], { directory, home });
 * console.assert(update?.status === "same");
 * ```
 */
export async function updateSkills(
  names: readonly string[] = [],
  options: UpdateSkillsOptions = {},
): Promise<readonly SkillUpdate[]> {
  const project = openProject(options.directory ?? process.cwd(), options.home);
  const imported = findImported(project, names);
  const groups = Map.groupBy(imported, ({ source }) => JSON.stringify([source.kind, source.address, source.ref]));
  const updates: SkillUpdate[] = [];
  for (const group of groups.values()) updates.push(...(await updateGroup(group, project, options)));
  return updates;
}

interface Imported {
  readonly name: string;
  readonly place: string;
  readonly source: LockedSource;
}

function findImported(project: ImportProject, names: readonly string[]): Imported[] {
  const imported = [...loadLock(project.lockPath)].flatMap(([key, locked]) => toImported(project, key, locked));
  const known = imported.map(({ name }) => name);
  for (const name of names) {
    if (known.includes(name)) continue;
    const [nearest] = nearestNames(name, known, 1);
    const cure = nearest === undefined ? "see kitbag.lock for what was" : `did you mean ${JSON.stringify(nearest)}?`;
    throw new KitbagError("import-failed", { source: name, reason: `nothing of this name was imported; ${cure}` });
  }
  return names.length === 0 ? imported : imported.filter(({ name }) => names.includes(name));
}

function toImported(project: ImportProject, key: string, { name, source }: LockedSkill): Imported[] {
  const place = Object.values(importFolders)
    .map((folder) => `${folder}/${name}`)
    .find((one) => key === one || key.endsWith(`/${one}`));
  if (source === undefined || place === undefined || project.findLocked(place)?.source === undefined) return [];
  return [{ name, place, source }];
}

async function updateGroup(
  group: readonly Imported[],
  project: ImportProject,
  options: UpdateSkillsOptions,
): Promise<SkillUpdate[]> {
  const [first] = group;
  if (first === undefined) return [];
  const source = fromLocked(first.source, project.lockBase);
  const shown = showSource(source);
  let gathered: GatheredSource;
  try {
    gathered = await gatherSource(source, undefined, { ...options, skills: group.map(({ name }) => name) });
  } catch (cause) {
    if (!(cause instanceof KitbagError)) throw cause;
    return group.map(({ name }) => ({ name, source: shown, status: "failed", reason: cause.message }));
  }
  try {
    const candidates = await toCandidates(gathered.skills, project);
    const updates: SkillUpdate[] = [];
    for (const one of group)
      updates.push(await updateOne(one, findAgain(one, candidates), { gathered, project, options, shown }));
    return updates;
  } finally {
    gathered.dispose();
  }
}

/** It is where it was, or has moved and kept its name. */
function findAgain({ name, source }: Imported, candidates: readonly LoadedCandidate[]): LoadedCandidate | undefined {
  const sameName = candidates.filter((candidate) => candidate.name === name);
  return sameName.find((candidate) => candidate.source.folder === source.folder) ?? sameName[0];
}

interface Update {
  readonly gathered: GatheredSource;
  readonly project: ImportProject;
  readonly options: UpdateSkillsOptions;
  readonly shown: string;
}

async function updateOne(
  { name }: Imported,
  candidate: LoadedCandidate | undefined,
  update: Update,
): Promise<SkillUpdate> {
  const { gathered, project, options, shown } = update;
  if (candidate === undefined) return { name, source: shown, status: "gone" };
  if (candidate.state === "same") {
    const reason = candidate.changedHere === true ? { reason: "it was changed here since it was added" } : {};
    return { name, source: shown, status: "same", ...reason };
  }
  const report: ImportReport = {
    source: shown,
    status: "listed",
    skills: [],
    plugins: [],
    skipped: [],
    notes: gathered.notes,
  };
  const { status } = await finishImport(report, [candidate], project, options);
  return { name, source: shown, status: status === "listed" ? "refused" : status, candidate: toShown(candidate) };
}
