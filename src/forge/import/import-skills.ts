import { join, relative } from "node:path";

import { KitbagError } from "../../core/errors.ts";
import { nearestNames } from "../../core/nearest.ts";
import type { Store } from "../../core/store.ts";
import { createVersions } from "../../records/versions/versions.ts";
import { toOffer } from "../../skills/load/find-needs.ts";
import type { SkillReport } from "../../skills/load/skill-report.ts";
import { loadSkills } from "../../workspace/skills/folder-skills.ts";
import { fromSkill } from "../../workspace/versions/keep-versions.ts";
import { importFailed, type FetchOptions } from "./fetched.ts";
import { type GatheredSource, gatherSource } from "./gather-source.ts";
import type { ImportCandidate, LoadedCandidate, SkippedFolder } from "./import-candidate.ts";
import { isLocal, showSource, parseSource } from "./import-source.ts";
import { landSkills } from "./land-skills.ts";
import { type ImportProject, openProject, trustNothing } from "./open-project.ts";
import { toCandidates, toSkipped } from "./to-candidates.ts";
import { isNextVersion } from "./tool-versions.ts";

/** What is imported, where to, and who decides. */
export interface ImportOptions extends FetchOptions {
  /** The folder of the project. @default the working directory */
  readonly directory?: string;
  /** The folder of the person's own files, where it is written down what is trusted. @default `KITBAG_HOME`, or `~/.kitbag` */
  readonly home?: string;
  /** What the path of a source is relative to. @default the project */
  readonly workingDirectory?: string;
  /** The skills to take, by name. @default the only one there is; of several, none */
  readonly skills?: readonly string[] | "all";
  /** The plugins to take them from, by name. @default all that are in the source itself */
  readonly plugins?: readonly string[];
  /** Is asked which skills to take when there are several. */
  readonly choose?: (report: ImportReport) => Promise<readonly string[]> | readonly string[];
  /**
   * Is shown what was fetched and says whether it is enabled; with `with-grants` it is also granted what its `needs` list. Without it,
   * what is imported stays disabled until it is trusted.
   */
  readonly approve?: (report: ImportReport) => Promise<ImportApproval> | ImportApproval;
  /** Replaces what is there under the same name. @default false */
  readonly replace?: boolean;
  /** Whether something of this machine may be imported: a folder, an archive, a repository. @default true */
  readonly allowLocal?: boolean;
  /** Keeps the version that is replaced. @default nothing is kept */
  readonly store?: Store;
}

/** Whether what is shown is enabled: `with-grants` also grants what it seems to need. */
export type ImportApproval = boolean | "with-grants";

/** What a source contains, and what of it was imported. */
export interface ImportReport {
  /** Without what may be a secret in it. */
  readonly source: string;
  /**
   * `listed`: nothing was taken, because no names were given. `refused`: nothing is kept. `disabled`: it is there, and runs nothing until
   * it is trusted. `enabled`: it may run, in exactly this state.
   */
  readonly status: "listed" | "refused" | "disabled" | "enabled";
  /** What was taken; if nothing was, what could be. */
  readonly skills: readonly ImportCandidate[];
  readonly marketplace?: string;
  readonly plugins: readonly ImportPlugin[];
  readonly skipped: readonly SkippedFolder[];
  /** What was left out, and what else a person should know. */
  readonly notes: readonly string[];
}

/** A plugin of a source. */
export interface ImportPlugin {
  readonly name: string;
  readonly description?: string;
  readonly version?: string;
  /** Where it is: in the source, or elsewhere, from where it is fetched only if it is named. */
  readonly from: string;
}

/**
 * Fetches skills from a repository, a Gist, an archive, a folder, a package of npm, a plugin or a marketplace; shows what they are; and
 * puts them into the project, pinned to what was shown. Nothing that was fetched is ever run on the way.
 *
 * Without `approve` they stay disabled: `kitbag trust` enables them.
 *
 * @throws {KitbagError} `import-failed` if it cannot be fetched, or has nothing that can be used; `import-refused` if it holds
 *   something that must not be unpacked; `import-taken` if something else has the name; `network-refused`, `network-failed`;
 *   `config-invalid` if the lock or the list of what is trusted cannot be used.
 *
 * @example
 * ```ts
 * import { mkdtempSync, writeFileSync } from "node:fs";
 * import { tmpdir } from "node:os";
 * import { join } from "node:path";
 * import { importSkills } from "kitbag/forge";
 *
 * const [project, source] = ["project", "source"].map((name) => mkdtempSync(join(tmpdir(), name)));
 * writeFileSync(join(source ?? "", "SKILL.md"), "---\nname: greet\ndescription: Says hello\n---\nSay hello.\n");
 * const report = await importSkills(source ?? "", { directory: project ?? "", home: join(project ?? "", "home") });
 * console.assert(report.status === "disabled" && report.skills[0]?.place === ".kitbag/skills/greet");
 * ```
 */
export async function importSkills(source: string, options: ImportOptions = {}): Promise<ImportReport> {
  const { directory = process.cwd(), allowLocal = true } = options;
  const project = openProject(directory, options.home);
  const parsed = parseSource(source, options.workingDirectory ?? project.root);
  const shown = showSource(parsed);
  if (!allowLocal && isLocal(parsed)) {
    const cure = `a person imports it with: kitbag add ${shown}`;
    throw importFailed(shown, `nothing of this machine may be imported here; ${cure}`);
  }
  const gathered = await gatherSource(parsed, options.plugins, options);
  try {
    const candidates = await toCandidates(gathered.skills, project);
    const report = toReport(shown, gathered, candidates);
    if (candidates.length === 0 && !report.plugins.some(({ from }) => from !== "here"))
      throw importFailed(shown, whyNothing(report));
    const names = await pickNames(report, options);
    if (names === undefined) return report;
    const picked = pickCandidates(candidates, names, shown);
    checkPlaces(picked, options.replace === true, project);
    const notes = [...report.notes, ...(await findRivals(picked, project))];
    return await finishImport({ ...report, notes }, picked, project, options);
  } finally {
    gathered.dispose();
  }
}

/** Asks, and puts what was picked in its place. */
export async function finishImport(
  report: ImportReport,
  picked: readonly LoadedCandidate[],
  project: ImportProject,
  { approve, store }: Pick<ImportOptions, "approve" | "store">,
): Promise<ImportReport> {
  const shown = { ...report, skills: picked.map(toShown) };
  const isApproved = approve === undefined ? undefined : await approve(shown);
  const isEnabled = isApproved === true || isApproved === "with-grants";
  if (isApproved === false) return { ...shown, status: "refused" };
  // A tool keeps its versions in its own folder.
  for (const { place } of store === undefined ? [] : picked.filter((one) => !isNextVersion(one))) {
    const there = await project.look(place);
    if (store !== undefined && there !== undefined) await keepReplaced(store, there);
  }
  // Code that runs with all rights is read first, and then trusted by name.
  const landings = picked.map((candidate) => ({
    candidate,
    isTrusted: isEnabled && candidate.code === undefined,
    grants: isApproved === "with-grants" ? toOffer(candidate.needs) : {},
  }));
  await landSkills(project, landings);
  return { ...shown, status: isEnabled ? "enabled" : "disabled" };
}

function toReport(
  source: string,
  { catalog, skills, leftOut, notes }: GatheredSource,
  candidates: readonly LoadedCandidate[],
): ImportReport {
  return {
    source,
    status: "listed",
    skills: candidates.map(toShown),
    ...(catalog.marketplace !== undefined && { marketplace: catalog.marketplace }),
    plugins: catalog.plugins.map(({ name, description, version, place }) => ({
      name,
      ...(description !== undefined && { description }),
      ...(version !== undefined && { version }),
      from: "source" in place ? showSource(place.source) : "folder" in place ? "here" : `nowhere: ${place.problem}`,
    })),
    skipped: [...toSkipped(skills), ...leftOut],
    notes,
  };
}

/** What is shown is data: the skill itself stays here. */
export function toShown(candidate: LoadedCandidate): ImportCandidate {
  const { report: _, replaces: _replaces, ...shown } = candidate;
  return shown;
}

async function pickNames(
  report: ImportReport,
  { skills, choose }: ImportOptions,
): Promise<readonly string[] | undefined> {
  const names = report.skills.map(({ name }) => name);
  if (skills === "all") return names;
  if (skills !== undefined && skills.length > 0) return skills;
  if (names.length === 1 && report.plugins.length <= 1) return names;
  const chosen = await choose?.(report);
  return chosen === undefined || chosen.length === 0 ? undefined : chosen;
}

function pickCandidates(
  candidates: readonly LoadedCandidate[],
  names: readonly string[],
  shown: string,
): LoadedCandidate[] {
  const known = candidates.map(({ name }) => name);
  return [...new Set(names)].map((name) => {
    const [found, other] = candidates.filter((candidate) => candidate.name === name);
    if (found === undefined) {
      const sameEnd = known.filter((one) => one.endsWith(`.${name}`));
      const near = sameEnd.length > 0 ? sameEnd : nearestNames(name, known, 3);
      const cure = (near.length > 0 ? near.slice(0, 8) : known.slice(0, 8))
        .map((one) => JSON.stringify(one))
        .join(", ");
      throw importFailed(shown, `it has no skill ${JSON.stringify(name)}; it has ${cure || "none that can be used"}`);
    }
    if (other === undefined) return found;
    const places = [found, other].map(({ source }) => JSON.stringify(source.folder ?? "."));
    throw importFailed(
      shown,
      `it has two skills ${JSON.stringify(name)}, in ${places.join(" and ")}; name the folder behind #ref:`,
    );
  });
}

/** Nothing is replaced unless the caller says so. */
function checkPlaces(picked: readonly LoadedCandidate[], mayReplace: boolean, project: ImportProject): void {
  for (const { name, state, place, source, changedHere = false } of picked) {
    if (state === "new" || (state === "same" && !changedHere) || mayReplace) continue;
    const before = project.findLocked(place)?.source;
    const isSameSource = before?.address === source.address && before.kind === source.kind;
    const cure =
      changedHere && state === "same"
        ? "it came from there, and was changed here since; replace it with --replace"
        : isSameSource
          ? `it came from there: run kitbag update ${name}`
          : `run kitbag remove ${name} first, or replace it with --replace`;
    throw new KitbagError("import-taken", { name, path: place, cure });
  }
}

/** Skills of the project that have the same names, in places that come later. */
async function findRivals(picked: readonly LoadedCandidate[], { root }: ImportProject): Promise<string[]> {
  const { reports } = await loadSkills({ workingDirectory: root, trust: trustNothing });
  return picked.flatMap(({ name, place }) => {
    const rivals = reports.filter((report) => report.name === name && report.directory !== join(root, place));
    return rivals.map(
      ({ path }) => `${relative(root, path)} has the name ${name} too: what is in ${place} goes before it`,
    );
  });
}

function whyNothing({ skipped }: ImportReport): string {
  const [first] = skipped;
  if (first === undefined) return "there is no skill in it: a skill is a folder with SKILL.md";
  return `no skill in it can be used; ${first.path === "" ? first.name : first.path}: ${first.reason}`;
}

/** Keeps a skill as it is now, before something else takes its place. One that cannot be read has nothing to be kept. */
async function keepReplaced(store: Store, { skill }: SkillReport): Promise<void> {
  if (skill?.folder === undefined) return;
  await createVersions(store).keep(skill.name, fromSkill(skill), {
    ...(skill.version !== undefined && { label: skill.version }),
  });
}
