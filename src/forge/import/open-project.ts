import { lstatSync, mkdirSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";

import { KitbagError } from "../../core/errors.ts";
import type { SkillReport } from "../../skills/load/skill-report.ts";
import { resolveKitbagHome } from "../../platform/home.ts";
import { loadLock, resolveLockPath } from "../../skills/trust/lock-file.ts";
import type { LockedSkill, LockedSource } from "../../skills/trust/lock-format.ts";
import { createLockPlaces } from "../../skills/trust/lock-skills.ts";
import { loadTrust } from "../../skills/trust/trust-file.ts";
import { loadSkills } from "../../workspace/skills/folder-skills.ts";
import type { ImportCandidate } from "./import-candidate.ts";

/** The project that skills are imported into. */
export interface ImportProject {
  /** Absolute, with links resolved. */
  readonly root: string;
  /** The folder of the person's own files. */
  readonly home: string;
  readonly lockPath: string;
  /** What paths in the lock are relative to. */
  readonly lockBase: string;
  /** Where something of this name is put, relative to the project. */
  placeOf(candidate: Pick<ImportCandidate, "name" | "kind">): string;
  /** The names of what was imported, by {@link toSourceKey}. */
  importedNames(): ReadonlyMap<string, string>;
  /** What the lock says about a place of the project. */
  findLocked(place: string): LockedSkill | undefined;
  /** Reads what is at a place; none if nothing is there. Runs nothing of it. */
  look(place: string): Promise<SkillReport | undefined>;
}

/** Where what was removed is kept. */
export const removedFolder = ".kitbag/removed";

/** Where the versions are that updates have replaced: one of each skill. */
export const previousFolder = ".kitbag/previous";

/** The folders of a project that imports are put into. */
export const importFolders = { skill: ".kitbag/skills", tool: ".kitbag/tools" } as const;

/**
 * Opens a project for imports. What is damaged is told before anything is fetched.
 *
 * @throws {KitbagError} `config-invalid` if the lock or the list of what is trusted cannot be used; `import-failed` if the folder is
 *   not there, or leads elsewhere.
 */
export function openProject(directory: string, home: string = resolveKitbagHome(process.env)): ImportProject {
  const root = toRoot(directory);
  for (const place of [".kitbag", removedFolder, previousFolder, ...Object.values(importFolders)])
    checkNoLink(root, place);
  const lockPath = resolveLockPath(root);
  loadLock(lockPath);
  loadTrust(home);
  return {
    root,
    home,
    lockPath,
    lockBase: realpathSync.native(dirname(lockPath)),
    placeOf: ({ name, kind }) => `${importFolders[kind]}/${name}`,
    importedNames: () =>
      new Map(
        [...loadLock(lockPath).values()].flatMap(({ name, source }) => (source ? [[toSourceKey(source), name]] : [])),
      ),
    findLocked: (place) => loadLock(lockPath).get(createLockPlaces(lockPath)(join(root, place)) ?? ""),
    async look(place) {
      const path = join(root, place);
      if (!isFolder(path)) return undefined;
      const { reports } = await loadSkills({ directories: [path], trust: trustNothing });
      return reports.find((report) => report.directory === path) ?? toEmptyReport(path, place);
    },
  };
}

/** Where something comes from, whichever version of it. */
export function toSourceKey({ kind, address, folder = "" }: LockedSource): string {
  return JSON.stringify([kind, address, folder]);
}

/** Nothing that is looked at is run, even if it was named. */
export function trustNothing(): { status: "untrusted"; changed: readonly string[] } {
  return { status: "untrusted", changed: [] };
}

function toRoot(directory: string): string {
  try {
    return realpathSync.native(directory);
  } catch (cause) {
    throw new KitbagError(
      "import-failed",
      { source: directory, reason: "there is no such folder to import into" },
      { cause },
    );
  }
}

/** A project could bring a link that leads what is written somewhere else. */
function checkNoLink(root: string, place: string): void {
  const found = lstatSync(join(root, place), { throwIfNoEntry: false });
  if (found === undefined || found.isDirectory()) return;
  throw new KitbagError("import-failed", {
    source: place,
    reason: "it is a link or a file where a folder belongs; remove it",
  });
}

/** Whether a folder is there, and no link to one. */
export function isFolder(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

function toEmptyReport(path: string, place: string): SkillReport {
  return { path, directory: path, name: place, status: "skipped", diagnostics: [], tools: [], scripts: [] };
}

/** Makes a folder of the project, if it is not there. */
export function makeFolder(root: string, place: string): string {
  const path = join(root, place);
  mkdirSync(path, { recursive: true });
  return path;
}
