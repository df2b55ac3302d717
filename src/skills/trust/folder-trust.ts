import type { SkillFile, SkillFolder, SkillTrust } from "../../core/skill.ts";
import { describeChanges } from "./describe-changes.ts";
import { resolveKitbagHome } from "../../platform/home.ts";
import { rememberFile } from "../../platform/files.ts";
import { loadTrust, trustPath } from "./trust-file.ts";
import { removedTrust, type Digests } from "./trust-format.ts";

/** Tells whether a skill's folder may run. */
export interface FolderTrust {
  (folder: Omit<SkillFolder, "trust">): SkillTrust;
  /** The file that decides: a follower of skills watches it. */
  readonly path?: string;
}

/**
 * Makes the judge of skill folders. A folder that this person trusted with `kitbag trust` may run in exactly the state that was
 * trusted, however it is named; one whose trust was removed may not run. Of the other folders, those that the user named or installed
 * may run; those that a project contains, and every folder with code that runs in this process (`skill.ts`), may not. Follows the list
 * when it changes.
 *
 * Contract of the judge: throws `config-invalid` (a {@link KitbagError}) if the list cannot be used.
 *
 * @throws {KitbagError} `option-invalid` if `KITBAG_HOME` is needed and is not an absolute path.
 *
 * @example
 * ```ts
 * import { createFolderTrust, loadSkills, openProjectLock } from "kitbag/skills";
 *
 * // The skills of a project, judged as the command line does.
 * const workingDirectory = process.cwd();
 * const trust = createFolderTrust();
 * const { reports } = await loadSkills({ workingDirectory, trust, lock: openProjectLock(workingDirectory) });
 * console.assert(reports.every(({ skill }) => skill?.folder?.trust.status !== "trusted"));
 * ```
 */
export function createFolderTrust({ home = resolveKitbagHome(process.env) }: FolderTrustOptions = {}): FolderTrust {
  const path = trustPath(home);
  const readList = rememberFile(path, () => loadTrust(home));
  const judge: FolderTrust = ({ scope, directory, files, code }) => {
    const { folders, grants } = readList();
    const trusted = folders.get(directory);
    if (trusted === undefined) {
      return scope !== "project" && code === undefined ? { status: "trusted" } : { status: "untrusted", changed: [] };
    }
    if (trusted.size === removedTrust.size) return { status: "untrusted", changed: [], removed: true };
    const changed = describeChanges(trusted, toDigests(files));
    // A grant belongs to the files that were trusted: to others it is not given.
    if (changed.length > 0) return { status: "untrusted", changed };
    const granted = grants.get(directory);
    return { status: "trusted", ...(granted !== undefined && { granted }) };
  };
  return Object.assign(judge, { path });
}

/** Whose trust it is. */
export interface FolderTrustOptions {
  /** The folder of this person's own files. @default `KITBAG_HOME`, or `~/.kitbag` */
  readonly home?: string;
}

/** The digests of a folder's files. */
export function toDigests(files: readonly SkillFile[]): Digests {
  return new Map(files.map((file) => [file.path, file.digest]));
}
