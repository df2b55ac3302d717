import type { SkillFile, SkillFolder, SkillTrust } from "../../core/skill.ts";
import { describeChanges } from "./describe-changes.ts";
import { rememberFile } from "./remember-file.ts";
import { loadTrust, trustPath } from "./trust-file.ts";
import type { Digests } from "./trust-format.ts";

/** Tells whether a skill's folder may run. */
export type FolderTrust = (folder: Omit<SkillFolder, "trust">) => SkillTrust;

/**
 * Makes the judge of skill folders: what somebody named or installed for themselves may run; what a project brings, and every folder
 * with code that runs in this process (`skill.ts`), may run only if this person trusted it in exactly this state with `kitbag
 * trust`. Follows the list when it changes.
 *
 * Contract of the judge: throws `config-invalid` (a {@link KitbagError}) if it needs the list and the list cannot be used.
 */
export function createFolderTrust({ home }: { readonly home: string }): FolderTrust {
  const readList = rememberFile(trustPath(home), () => loadTrust(home));
  return ({ scope, directory, files, code }) => {
    if (scope !== "project" && code === undefined) return { status: "trusted" };
    const trusted = readList().folders.get(directory);
    if (trusted === undefined) return { status: "untrusted", changed: [] };
    const changed = describeChanges(trusted, toDigests(files));
    return changed.length === 0 ? { status: "trusted" } : { status: "untrusted", changed };
  };
}

/** The digests of a folder's files. */
export function toDigests(files: readonly SkillFile[]): Digests {
  return new Map(files.map((file) => [file.path, file.digest]));
}
