import { existsSync } from "node:fs";
import { basename, dirname } from "node:path";

import { findSkills } from "../../skills/discovery/find-skills.ts";
import { isSkillFile } from "../../skills/discovery/is-skill.ts";
import { isInside, toRealPath } from "../../platform/paths.ts";
import { loadLock } from "../../skills/trust/lock-file.ts";
import { createLockPlaces } from "../../skills/trust/lock-skills.ts";
import { updateTrust } from "../../skills/trust/trust-file.ts";
import { removedTrust, type TrustList } from "../../skills/trust/trust-format.ts";
import type { Answer } from "../cli-command.ts";
import { toPrintable } from "../printable.ts";
import { findSkillFolders } from "./find-trust-target.ts";

/**
 * Takes back this person's trust in a configuration or a skill, or in a folder: in what `kitbag trust` of the folder trusts, and in
 * what was trusted below it. What was trusted need not be there any more. The skills do not run until they are trusted again, also
 * where their folder is named. The project's lock belongs to everyone who uses the project, so it stays as it is.
 *
 * @throws {KitbagError} `config-invalid` if the list of what is trusted, or the lock, cannot be used.
 */
export async function removeTrust(
  paths: readonly string[],
  home: string,
  lockPath: string | undefined,
): Promise<Answer> {
  const places = paths.map((path) => toRealPath(isSkillFile(basename(path)) ? dirname(path) : path));
  const pinned = lockPath === undefined ? [] : findPinned(places, lockPath);
  const removed: string[] = [];
  let missing: readonly string[] = [];
  await updateTrust(home, (list) => {
    missing = places.filter((place) => !existsSync(place) && !isListed(place, list));
    removed.push(...removeFrom(list, places));
  });
  const found = places.filter((place) => !missing.includes(place));
  const lines = [
    ...removed.map((one) => `No longer trusted: ${one}`),
    ...(removed.length === 0 && found.length > 0 ? [`It was not trusted: ${found.join(", ")}`] : []),
    ...(pinned.length === 0 ? [] : [describePinned(pinned)]),
  ];
  const document = { trusted: false, path: places.join(", "), removed, pinned };
  const answer = { document, ...(lines.length > 0 && { text: toPrintable(lines.join("\n")) }) };
  if (missing.length === 0) return answer;
  const failure = `Cannot remove the trust in ${missing.join(", ")}: there is nothing there, and nothing there was trusted`;
  return { ...answer, document: { ...document, missing }, failure: toPrintable(failure), exitCode: 1 };
}

function removeFrom({ configs, folders }: TrustList, places: readonly string[]): string[] {
  const removed: string[] = [];
  // A configuration belongs to its own folder only; skills may be anywhere below.
  for (const config of [...configs.keys()]) {
    if (!places.includes(config) && !places.includes(dirname(config))) continue;
    configs.delete(config);
    removed.push(config);
  }
  const listed = [...folders.keys()].filter((folder) => places.some((place) => isInside(folder, place)));
  for (const folder of new Set([...listed, ...places.flatMap(findFolders)])) {
    if (folders.get(folder)?.size === removedTrust.size) continue;
    folders.set(folder, removedTrust);
    removed.push(folder);
  }
  return removed;
}

function isListed(place: string, { configs, folders }: TrustList): boolean {
  return [...configs.keys(), ...folders.keys()].some((path) => isInside(path, place));
}

/** The skills that are there: those that were never trusted could run because the person names their folder. */
function findFolders(path: string): string[] {
  return findSkills({ directories: findSkillFolders(path) }).locations.map(({ directory }) => directory);
}

/** The folders at or below `places` that the lock pins, by their place in it. */
function findPinned(places: readonly string[], lockPath: string): string[] {
  const placeOf = createLockPlaces(lockPath);
  const below = places.flatMap((place) => placeOf(place) ?? []);
  return [...loadLock(lockPath).keys()].filter((place) =>
    below.some((one) => one === "." || place === one || place.startsWith(`${one}/`)),
  );
}

function describePinned(pinned: readonly string[]): string {
  const [what, whose] = pinned.length === 1 ? ["it does", "it is"] : ["they do", "they are"];
  return `kitbag.lock still pins ${pinned.join(", ")} for everyone who uses this project: ${what} not run after a change until ${whose} trusted`;
}
