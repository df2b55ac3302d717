import { lstatSync, realpathSync, statSync } from "node:fs";
import { join } from "node:path";

import { KitbagError } from "../../core/errors.ts";
import { describeFileError, describeForeignOwner } from "../../platform/files.ts";
import { findProject } from "../store/find-project.ts";

/** The names a configuration may have. */
export const configNames: readonly string[] = ["ts", "mts", "js", "mjs", "json"].map((end) => `kitbag.config.${end}`);

/**
 * Finds the configuration of `folder`: in it, or in the nearest folder above that belongs to the same project, up to the root of the
 * repository. Without a repository the project ends at the folder that has a `.kitbag`, or is `folder` alone. Answers with its real
 * path.
 *
 * @throws {KitbagError} `config-invalid` if a folder has several, or one that is not a file, or is the file of another user.
 */
export function findConfig(folder: string): string | undefined {
  for (const place of findProject(folder).folders) {
    const found = findConfigIn(place);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Finds the configuration in `folder` itself; otherwise as {@link findConfig}. */
export function findConfigIn(folder: string): string | undefined {
  const [first, ...others] = configNames.map((name) => join(folder, name)).filter(exists);
  if (first === undefined) return undefined;
  if (others.length === 0) return resolveConfig(first);
  const reason = `the folder also has ${others.join(", ")}; keep one of them`;
  throw new KitbagError("config-invalid", { path: first, reason });
}

/**
 * The real path of a configuration that was found.
 *
 * @throws {KitbagError} `config-invalid` as {@link resolveFile}, and if it or the link to it belongs to another user.
 */
export function resolveConfig(path: string): string {
  const real = resolveFile(path);
  const reason = describeForeignOwner(statSync(real)) ?? describeForeignOwner(lstatSync(path));
  if (reason === undefined) return real;
  throw new KitbagError("config-invalid", { path, reason });
}

/**
 * The real path of a file, all symbolic links followed.
 *
 * @throws {KitbagError} `config-invalid` if there is no file that can be read.
 */
export function resolveFile(path: string): string {
  let reason: string;
  try {
    const real = realpathSync.native(path);
    if (statSync(real).isFile()) return real;
    reason = "it is not a file";
  } catch (cause) {
    reason = describeFileError(cause);
  }
  throw new KitbagError("config-invalid", { path, reason });
}

function exists(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    // A folder above that we may not look into has nothing for us.
    return false;
  }
}
