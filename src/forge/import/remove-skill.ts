import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

import { KitbagError } from "../../core/errors.ts";
import { isName } from "../../core/names.ts";
import { nearestNames } from "../../core/nearest.ts";
import { parseLock, renderLock, type LockedSkill } from "../../skills/trust/lock-format.ts";
import { updateLock } from "../../skills/trust/lock-file.ts";
import { createLockPlaces } from "../../skills/trust/lock-skills.ts";
import { withProjectLock } from "./land-skills.ts";
import { importFolders, isFolder, openProject, removedFolder, type ImportProject } from "./open-project.ts";

/** Which project something is removed from. */
export interface RemoveOptions {
  /** The folder of the project. @default the working directory */
  readonly directory?: string;
  /** The folder of the person's own files. @default `KITBAG_HOME`, or `~/.kitbag` */
  readonly home?: string;
}

/** What was removed or put back. */
export interface RemovedSkill {
  readonly name: string;
  /** Where it was, or is again, relative to the project. */
  readonly place: string;
  /** Where it is kept until something else of its name is removed. */
  readonly kept: string;
}

/**
 * Takes a skill or a tool out of a project, and out of the lock. It is kept beside, so that it can be put back.
 *
 * @throws {KitbagError} `skill-not-found` if nothing has this name in `.kitbag/skills` or `.kitbag/tools`; `config-invalid` if the
 *   lock cannot be used.
 *
 * @example
 * ```ts
 * import { mkdtempSync, writeFileSync } from "node:fs";
 * import { tmpdir } from "node:os";
 * import { join } from "node:path";
 * import { importSkills, removeSkill, restoreSkill } from "kitbag/forge";
 *
 * const [directory = "", source = ""] = ["project", "source"].map((name) => mkdtempSync(join(tmpdir(), name)));
 * const project = { directory, home: join(directory, "home") };
 * writeFileSync(join(source, "SKILL.md"), "---\nname: greet\ndescription: Says hello\n---\nSay hello.\n");
 * await importSkills(source, project);
 * await removeSkill("greet", project);
 * const { place } = await restoreSkill("greet", project);
 * console.assert(place === ".kitbag/skills/greet");
 * ```
 */
export async function removeSkill(name: string, options: RemoveOptions = {}): Promise<RemovedSkill> {
  const project = openProject(options.directory ?? process.cwd(), options.home);
  return withProjectLock(project, async () => {
    const place = findPlace(project, name);
    const kept = `${removedFolder}/${name}`;
    const locked = project.findLocked(place);
    const goal = join(project.root, kept);
    rmSync(goal, { recursive: true, force: true });
    mkdirSync(goal, { recursive: true });
    writeFileSync(join(goal, noteName), renderLock(new Map(locked === undefined ? [] : [[place, locked]])), {
      flush: true,
    });
    writeFileSync(join(goal, placeName), place, { flush: true });
    renameSync(join(project.root, place), join(goal, "files"));
    await changeLock(project, place);
    return { name, place, kept };
  });
}

/**
 * Puts back what `removeSkill` took out: as it was, in the lock too, and trusted if it was trusted in exactly this state.
 *
 * @throws {KitbagError} `skill-not-found` if nothing of this name was removed; `import-taken` if something else has its place.
 *
 * @example
 * ```ts
 * import { isKitbagError } from "kitbag";
 * import { restoreSkill } from "kitbag/forge";
 *
 * const cause: unknown = await restoreSkill("never-removed").catch((cause: unknown) => cause);
 * console.assert(isKitbagError(cause, "skill-not-found"));
 * ```
 */
export async function restoreSkill(name: string, options: RemoveOptions = {}): Promise<RemovedSkill> {
  const project = openProject(options.directory ?? process.cwd(), options.home);
  return withProjectLock(project, async () => {
    const kept = `${removedFolder}/${name}`;
    const from = join(project.root, kept);
    if (!isName(name) || !isFolder(from) || !isFolder(join(from, "files")))
      throw notFound(name, listNames(project, [removedFolder]));
    const said = readFileSync(join(from, placeName), "utf8");
    const place = Object.values(importFolders)
      .map((folder) => `${folder}/${name}`)
      .find((one) => one === said);
    if (place === undefined) throw notFound(name, []);
    const path = join(project.root, place);
    if (existsSync(path)) throw new KitbagError("import-taken", { name, path: place, cure: "move it away first" });
    const locked = parseLock(readFileSync(join(from, noteName), "utf8")).get(place);
    mkdirSync(dirname(path), { recursive: true });
    renameSync(join(from, "files"), path);
    await changeLock(project, place, locked);
    rmSync(from, { recursive: true, force: true });
    return { name, place, kept };
  });
}

const noteName = "kitbag.lock";
const placeName = "place";

/** The lock may lie above the project. */
async function changeLock(project: ImportProject, place: string, locked?: LockedSkill): Promise<void> {
  const key = createLockPlaces(project.lockPath)(join(project.root, place));
  if (key === undefined) return;
  await updateLock(project.lockPath, (lock) => {
    if (locked === undefined) lock.delete(key);
    else lock.set(key, locked);
  });
}

function findPlace(project: ImportProject, name: string): string {
  const places = Object.values(importFolders).map((folder) => `${folder}/${name}`);
  const place = isName(name) ? places.find((one) => existsSync(join(project.root, one))) : undefined;
  if (place !== undefined) return place;
  throw notFound(name, listNames(project, Object.values(importFolders)));
}

function listNames(project: ImportProject, folders: readonly string[]): string[] {
  return folders.flatMap((folder) => {
    const path = join(project.root, folder);
    return existsSync(path) ? readdirSync(path).filter((name) => isName(name)) : [];
  });
}

function notFound(skill: string, known: readonly string[]): KitbagError {
  return new KitbagError("skill-not-found", { skill, nearest: nearestNames(skill, known, 3), count: known.length });
}
