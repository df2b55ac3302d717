import { lstatSync, realpathSync, statSync } from "node:fs";
import { dirname, join } from "node:path";

import { KitbagError } from "../../core/errors.ts";
import { describeFileError } from "../../skills/folder/describe-file-error.ts";

/** The names a configuration may have. */
export const configNames: readonly string[] = ["ts", "mts", "js", "mjs", "json"].map((end) => `kitbag.config.${end}`);

/**
 * Finds the configuration of `folder`: in it, or in the nearest folder above. Answers with its real path.
 *
 * @throws {KitbagError} `config-invalid` if a folder has several, or one that is not a file.
 */
export function findConfig(folder: string): string | undefined {
  const found = findConfigIn(folder);
  const above = dirname(folder);
  return found !== undefined || above === folder ? found : findConfig(above);
}

/** Finds the configuration in `folder` itself; otherwise as {@link findConfig}. */
export function findConfigIn(folder: string): string | undefined {
  const [first, ...others] = configNames.map((name) => join(folder, name)).filter(exists);
  if (first === undefined) return undefined;
  if (others.length === 0) return resolveFile(first);
  const reason = `the folder also has ${others.join(", ")}; keep one of them`;
  throw new KitbagError("config-invalid", { path: first, reason });
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
