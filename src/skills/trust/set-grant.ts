import { dirname } from "node:path";

import type { SkillFolder } from "../../core/skill.ts";
import { joinGrants, sharedGrant, withoutGrant, type SkillGrant } from "../../core/skill-grant.ts";
import { isInside } from "../../platform/paths.ts";
import { toDigests } from "./folder-trust.ts";
import { loadLock, updateLock } from "./lock-file.ts";
import type { LockedSkill } from "./lock-format.ts";
import { createLockPlaces, lockSkills, type MaybeSkill } from "./lock-skills.ts";
import { loadTrust, updateTrust } from "./trust-file.ts";

/** Where the grant of a skill is written down. */
export interface GrantPlace {
  /** The folder that holds the user's trust file. */
  readonly home: string;
  /** The lock of the project; none outside of projects. */
  readonly lockPath: string | undefined;
  readonly folder: Pick<SkillFolder, "directory" | "files">;
}

/** What is granted to a skill from outside. */
export interface KnownGrant {
  /** By this person, as far as others have not taken it back in the lock of the project. */
  readonly own: SkillGrant;
  /** In the lock of the project, and not by this person: it does not count. */
  readonly proposed: SkillGrant;
}

/** Reads what is granted to a skill from outside. @throws {KitbagError} `config-invalid` if one of the files is wrong. */
export function readGrant(place: GrantPlace): KnownGrant {
  const own = keptGrant(place, loadTrust(place.home).grants);
  return { own, proposed: withoutGrant(findProposed(place) ?? {}, own) };
}

function keptGrant(place: GrantPlace, grants: ReadonlyMap<string, SkillGrant>): SkillGrant {
  const own = grants.get(place.folder.directory) ?? {};
  return sharedGrant(own, findProposed(place) ?? own);
}

function findProposed({ lockPath, folder }: GrantPlace): SkillGrant | undefined {
  return lockPath === undefined ? undefined : findLocked(folder, lockPath)?.granted;
}

function findLocked({ directory }: Pick<SkillFolder, "directory">, lockPath: string): LockedSkill | undefined {
  if (!isInside(directory, dirname(lockPath))) return undefined;
  return loadLock(lockPath).get(createLockPlaces(lockPath)(directory) ?? "");
}

/**
 * Grants something to a trusted skill from outside, in exactly the state that its folder has: in the user's trust file, which is what
 * counts; for a skill of the project also in its lock, where others see it. Answers with all that is granted.
 *
 * @throws {KitbagError} `config-invalid` if one of the files is wrong or cannot be written; `home-unusable`.
 */
export async function addGrant(
  place: GrantPlace,
  more: SkillGrant,
  [report, others]: readonly [MaybeSkill, readonly MaybeSkill[]],
): Promise<SkillGrant> {
  const { home, lockPath, folder } = place;
  let granted: SkillGrant = {};
  await updateTrust(home, ({ folders, grants }) => {
    granted = joinGrants([keptGrant(place, grants), more]);
    folders.set(folder.directory, toDigests(folder.files));
    grants.set(folder.directory, granted);
  });
  if (lockPath !== undefined && isInside(folder.directory, dirname(lockPath)))
    await lockSkills([report], lockPath, { others, grants: new Map([[folder.directory, granted]]) });
  return granted;
}

/**
 * Takes back what was granted from outside. Whether the skill is trusted stays as it is. Answers with what this person still grants.
 *
 * @throws {KitbagError} as {@link addGrant}.
 */
export async function takeGrant({ home, lockPath, folder }: GrantPlace, taken: SkillGrant): Promise<SkillGrant> {
  let granted: SkillGrant = {};
  await updateTrust(home, ({ grants }) => {
    granted = withoutGrant(grants.get(folder.directory) ?? {}, taken);
    grants.set(folder.directory, granted);
  });
  if (lockPath === undefined || findLocked(folder, lockPath)?.granted === undefined) return granted;
  await updateLock(lockPath, (lock) => {
    const key = createLockPlaces(lockPath)(folder.directory) ?? "";
    const locked = lock.get(key);
    if (locked?.granted !== undefined) lock.set(key, { ...locked, granted: withoutGrant(locked.granted, taken) });
  });
  return granted;
}
