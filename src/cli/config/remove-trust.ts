import { existsSync } from "node:fs";
import { basename, dirname } from "node:path";

import { findSkills } from "../../skills/discovery/find-skills.ts";
import { isSkillFile } from "../../skills/discovery/is-skill.ts";
import { isInside } from "../../skills/folder/is-inside.ts";
import { toRealPath } from "../../skills/folder/to-real-path.ts";
import { unlockSkills } from "../../skills/trust/lock-skills.ts";
import { updateTrust } from "../../skills/trust/trust-file.ts";
import { removedTrust } from "../../skills/trust/trust-format.ts";
import type { Answer } from "../cli-command.ts";
import { toPrintable } from "../printable.ts";

/**
 * Takes back the trust in a configuration or a skill, or in everything below a folder. What was trusted need not be there any
 * more. The skills do not run until they are trusted again, also where their folder is named.
 *
 * @throws {KitbagError} `config-invalid` if the list of what is trusted, or the lock, cannot be used.
 */
export async function removeTrust(
  paths: readonly string[],
  home: string,
  lockPath: string | undefined,
): Promise<Answer> {
  const places = paths.map((path) => toRealPath(isSkillFile(basename(path)) ? dirname(path) : path));
  const removed: string[] = [];
  await updateTrust(home, ({ configs, folders }) => {
    // A configuration belongs to its own folder only; skills may be anywhere below.
    for (const config of [...configs.keys()]) {
      if (!places.includes(config) && !places.includes(dirname(config))) continue;
      configs.delete(config);
      removed.push(config);
    }
    for (const folder of new Set([...folders.keys(), ...places.flatMap(findFolders)])) {
      if (!places.some((place) => isInside(folder, place)) || folders.get(folder)?.size === removedTrust.size) continue;
      folders.set(folder, removedTrust);
      removed.push(folder);
    }
  });
  if (lockPath !== undefined) for (const place of places) await unlockSkills(place, lockPath);
  const lines = removed.map((one) => `No longer trusted: ${one}`);
  const text = removed.length === 0 ? `It was not trusted: ${places.join(", ")}` : lines.join("\n");
  return { document: { trusted: false, path: places.join(", "), removed }, text: toPrintable(text) };
}

/** The skills that are there: those that were never trusted could run because somebody names their folder. */
function findFolders(path: string): string[] {
  return existsSync(path) ? findSkills({ directories: [path] }).locations.map(({ directory }) => directory) : [];
}
