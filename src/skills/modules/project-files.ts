import { readFileSync, statSync } from "node:fs";
import { sep } from "node:path";
import { fileURLToPath } from "node:url";

import { KitbagError } from "../../core/errors.ts";
import { describeFileError } from "../../platform/files.ts";

/** Where Kitbag's own code is. */
const ownFolder = fileURLToPath(new URL("../../", import.meta.url));

/**
 * Tells whether a file belongs to the user's project: not to Kitbag and not to a package under `node_modules`, which the package
 * manager's lock file answers for. `path` must be a real path.
 */
export function isProjectFile(path: string): boolean {
  return !path.startsWith(ownFolder) && !path.split(sep).includes("node_modules");
}

const maxFileBytes = 8 * 1024 * 1024;

/**
 * Reads the bytes of a file.
 *
 * @throws {KitbagError} `config-invalid` if it cannot be read or is larger than any source file.
 */
export function loadBytes(path: string): Buffer {
  try {
    const { size } = statSync(path);
    if (size <= maxFileBytes) return readFileSync(path);
  } catch (cause) {
    throw new KitbagError("config-invalid", { path, reason: describeFileError(cause) }, { cause });
  }
  throw new KitbagError("config-invalid", { path, reason: `it is larger than ${maxFileBytes} bytes` });
}
