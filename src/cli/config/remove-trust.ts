import { basename, dirname } from "node:path";

import { isSkillFile } from "../../skills/discovery/is-skill.ts";
import { isInside } from "../../skills/folder/is-inside.ts";
import { toRealPath } from "../../skills/folder/to-real-path.ts";
import { unlockSkills } from "../../skills/trust/lock-skills.ts";
import { updateTrust } from "../../skills/trust/trust-file.ts";
import type { Answer } from "../cli-command.ts";
import { toPrintable } from "../printable.ts";

/**
 * Takes back the trust in a configuration or a skill, or in everything below a folder. What was trusted need not be there any
 * more.
 *
 * @throws {KitbagError} `config-invalid` if the list of what is trusted, or the lock, cannot be used.
 */
export async function removeTrust(path: string, home: string, lockPath: string | undefined): Promise<Answer> {
  const named = isSkillFile(basename(path)) ? dirname(path) : path;
  const real = toRealPath(named);
  const removed: string[] = [];
  await updateTrust(home, ({ configs, folders }) => {
    // A configuration belongs to its own folder only; skills may be anywhere below.
    for (const config of [...configs.keys()]) {
      if (config === real || dirname(config) === real) take(configs, config);
    }
    for (const folder of [...folders.keys()]) if (isInside(folder, real)) take(folders, folder);
  });
  if (lockPath !== undefined) await unlockSkills(real, lockPath);
  const lines = removed.map((one) => `No longer trusted: ${one}`);
  const text = removed.length === 0 ? `It was not trusted: ${real}` : lines.join("\n");
  return { document: { trusted: false, path: real, removed }, text: toPrintable(text) };

  function take(map: Map<string, unknown>, key: string): void {
    map.delete(key);
    removed.push(key);
  }
}
