import { existsSync, realpathSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";

import { KitbagError } from "../../core/errors.ts";
import { describeFileError, rememberFile, writeFileAtomically } from "../../platform/files.ts";
import { readRegularFile } from "../../platform/read-file.ts";
import { parseLock, renderLock, type Lock } from "./lock-format.ts";
import { withFileLock } from "../../platform/file-lock.ts";

/** The name of the file. */
const lockName = "kitbag.lock";

/**
 * Finds the lock file of a folder: the nearest one, from the folder up to the root of its repository. If no lock file exists, the
 * path for a new one: in the root of the repository, or in the folder itself outside a repository. The home directory never counts
 * as a project, even if it is a repository.
 */
export function resolveLockPath(folder: string, home: string = homedir()): string {
  const homes = new Set([home, toReal(home)]);
  for (let place = folder; ; place = dirname(place)) {
    if (place !== folder && homes.has(place)) return join(folder, lockName);
    const path = join(place, lockName);
    if (existsSync(path) || existsSync(join(place, ".git"))) return path;
    if (dirname(place) === place) return join(folder, lockName);
  }
}

function toReal(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    return path;
  }
}

const maxBytes = 64 * 1024 * 1024;

/**
 * Reads a lock; one that is not there is empty.
 *
 * @throws {KitbagError} `config-invalid` if it is not what this program wrote, or belongs to another user: nothing is granted until
 *   a person has looked.
 */
export function loadLock(path: string): Lock {
  const read = readRegularFile(path, { maxBytes, isOwnOnly: true });
  if (!read.ok) {
    if (read.reason === "ENOENT") return new Map();
    throw unusable(path, read.reason === "ELOOP" ? "it is a symbolic link" : read.reason);
  }
  try {
    return parseLock(new TextDecoder("utf-8", { fatal: true }).decode(read.bytes));
  } catch (cause) {
    throw unusable(path, (cause as Error).message, cause);
  }
}

/** A lock that may change at any time. */
export interface LockReader {
  readonly path: string;
  /** What it says now; the same object as before if it did not change. Throws as {@link loadLock} does. */
  read(): Lock;
}

/**
 * Opens the lock of the project that `folder` is in, as the command line does: the nearest `kitbag.lock` up to the root of the
 * repository. It need not be there yet.
 *
 * @example
 * ```ts
 * import { loadSkills, openProjectLock } from "kitbag/skills";
 *
 * const lock = openProjectLock(process.cwd());
 * const { diagnostics } = await loadSkills({ directories: ["skills"], lock });
 * console.assert(lock.path.endsWith("kitbag.lock") && diagnostics.every((one) => one.code !== "lock-invalid"));
 * ```
 */
export function openProjectLock(folder: string): LockReader {
  return openLock(resolveLockPath(folder));
}

/** Opens a lock; it need not be there yet. */
export function openLock(path: string): LockReader {
  return { path, read: rememberFile(path, () => loadLock(path)) };
}

function unusable(path: string, reason: string, cause?: unknown): KitbagError {
  const cure = "it grants nothing until it is put right; or delete it and run kitbag trust again";
  return new KitbagError("config-invalid", { path, reason: `${reason}; ${cure}` }, { cause });
}

/**
 * Changes a lock file atomically. Several programs may do so at the same time. Without a change nothing is written.
 *
 * @throws {KitbagError} `config-invalid` if the lock is wrong (see {@link loadLock}) or cannot be written.
 */
export async function updateLock(path: string, change: (lock: Lock) => void): Promise<void> {
  try {
    await withFileLock(`${path}.lock`, () => {
      const lock = loadLock(path);
      const before = renderLock(lock);
      change(lock);
      const after = renderLock(lock);
      if (after !== before) writeFileAtomically(path, after, { mode: 0o644 });
    });
  } catch (cause) {
    if (cause instanceof KitbagError) throw cause;
    throw new KitbagError("config-invalid", { path, reason: describeFileError(cause) }, { cause });
  }
}
