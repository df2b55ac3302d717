import { statSync } from "node:fs";

import type { SkillFile, SkillFolder, SkillTrust } from "../../core/skill.ts";
import { describeChanges } from "./describe-changes.ts";
import { loadTrust, trustPath } from "./trust-file.ts";
import type { Digests, TrustList } from "./trust-format.ts";

/** Tells whether a skill's folder may run. */
export type FolderTrust = (folder: Omit<SkillFolder, "trust">) => SkillTrust;

/**
 * Makes the judge of skill folders: what somebody named or installed for themselves may run; what a project brings may run only
 * if this person trusted it in exactly this state. Follows the list when it changes.
 *
 * Contract of the judge: throws `config-invalid` (a {@link KitbagError}) if it needs the list and the list cannot be used.
 */
export function createFolderTrust({ home }: { readonly home: string }): FolderTrust {
  let known: { readonly version: string; readonly list: TrustList } | undefined;

  function currentList(): TrustList {
    const version = versionOf(trustPath(home));
    if (known?.version !== version) known = { version, list: loadTrust(home) };
    return known.list;
  }

  return ({ scope, directory, files }) => {
    if (scope !== "project") return { status: "trusted" };
    const trusted = currentList().folders.get(directory);
    if (trusted === undefined) return { status: "untrusted", changed: [] };
    const changed = describeChanges(trusted, toDigests(files));
    return changed.length === 0 ? { status: "trusted" } : { status: "untrusted", changed };
  };
}

/** The digests of a folder's files. */
export function toDigests(files: readonly SkillFile[]): Digests {
  return new Map(files.map((file) => [file.path, file.digest]));
}

/** The list is always replaced as a whole, so another list is another file. */
function versionOf(path: string): string {
  try {
    const { ino, size, ctimeNs } = statSync(path, { bigint: true });
    return `${ino} ${size} ${ctimeNs}`;
  } catch {
    return "none";
  }
}
