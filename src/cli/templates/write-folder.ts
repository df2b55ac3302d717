import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

import { describeFileError } from "../../platform/files.ts";
import { usageError } from "../usage-error.ts";
import type { TemplateFile } from "./skill-template.ts";

/**
 * Writes files into a folder that is not there yet: all of them or nothing.
 *
 * @throws {KitbagError} `usage-invalid` if the folder is there, or cannot be written.
 */
export function writeFolder(folder: string, files: readonly TemplateFile[]): void {
  if (existsSync(folder))
    throw usageError(`Cannot write ${folder}: it is already there; choose another name, or move it away`);
  try {
    mkdirSync(dirname(folder), { recursive: true });
    // Fails if somebody else was faster.
    mkdirSync(folder);
  } catch (cause) {
    throw usageError(`Cannot write ${folder}: ${describeFileError(cause)}`);
  }
  try {
    for (const { path, content, executable } of files) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), content, { flag: "wx", mode: executable === true ? 0o755 : 0o644 });
    }
  } catch (cause) {
    rmSync(folder, { recursive: true, force: true });
    throw usageError(`Cannot write ${folder}: ${describeFileError(cause)}`);
  }
}
