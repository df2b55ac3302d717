import { existsSync, readFileSync, renameSync } from "node:fs";
import { join } from "node:path";

import { KitbagError } from "../../core/errors.ts";
import { isName } from "../../core/names.ts";
import { updateLock } from "../../skills/trust/lock-file.ts";
import { parseLock, type LockedSkill } from "../../skills/trust/lock-format.ts";
import { createLockPlaces } from "../../skills/trust/lock-skills.ts";
import { updateTrust } from "../../skills/trust/trust-file.ts";
import { moveJudgement, noteName, withProjectLock, writeNote } from "./land-skills.ts";
import { importFolders, isFolder, openProject, previousFolder } from "./open-project.ts";
import type { RemoveOptions } from "./remove-skill.ts";

/** What was brought back. */
export interface RolledBackSkill {
  readonly name: string;
  /** Where it is, relative to the project. */
  readonly place: string;
  /** Of what is live now, and of what was live before; none if the skill says none. */
  readonly version?: string;
  readonly from?: string;
}

/**
 * Brings the version of an imported skill back that the last update has replaced: its files, its entry in the lock, and its trust, if it was
 * trusted in exactly this state. What was live is kept in its place, so doing it again undoes it.
 *
 * @throws {KitbagError} `import-failed` if no earlier version is kept; `config-invalid` if the lock cannot be used.
 *
 * @example
 * ```ts
 * import { isKitbagError } from "kitbag";
 * import { rollbackSkill } from "kitbag/forge";
 *
 * const cause: unknown = await rollbackSkill("never-updated").catch((cause: unknown) => cause);
 * console.assert(isKitbagError(cause, "import-failed"));
 * ```
 */
export async function rollbackSkill(name: string, options: RemoveOptions = {}): Promise<RolledBackSkill> {
  const project = openProject(options.directory ?? process.cwd(), options.home);
  return withProjectLock(project, async () => {
    const place = `${importFolders.skill}/${name}`;
    const [path, kept] = [join(project.root, place), join(project.root, previousFolder, isName(name) ? name : "")];
    // A project could bring a link that leads what is moved somewhere else.
    if (!isFolder(kept)) throw nothingKept(name);
    const [files, spare] = [join(kept, "files"), join(kept, "swap")];
    // A program that was ended in between has left what was live there.
    if (existsSync(spare) && !existsSync(path)) renameSync(spare, path);
    if (!isName(name) || !isFolder(files) || !isFolder(path)) throw nothingKept(name);
    const locked = parseLock(readFileSync(join(kept, noteName), "utf8")).get(place);
    const current = project.findLocked(place);
    renameSync(path, spare);
    renameSync(files, path);
    renameSync(spare, files);
    writeNote({ place, kept, locked: current });
    const key = createLockPlaces(project.lockPath)(path);
    if (key !== undefined) await updateLock(project.lockPath, (lock) => setEntry(lock, key, locked));
    await updateTrust(project.home, (list) => {
      moveJudgement(list, path, spare);
      moveJudgement(list, files, path);
      moveJudgement(list, spare, files);
    });
    const [version, from] = [locked?.version, current?.version];
    return { name, place, ...(version !== undefined && { version }), ...(from !== undefined && { from }) };
  });
}

function setEntry(lock: Map<string, LockedSkill>, key: string, locked: LockedSkill | undefined): void {
  if (locked === undefined) lock.delete(key);
  else lock.set(key, locked);
}

function nothingKept(name: string): KitbagError<"import-failed"> {
  const reason = "no earlier version of it is kept: kitbag update keeps the one that it replaces";
  return new KitbagError("import-failed", { source: name, reason });
}
