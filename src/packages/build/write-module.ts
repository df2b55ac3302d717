import { randomBytes } from "node:crypto";
import { lstatSync, mkdirSync, readFileSync, realpathSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

import { KitbagError } from "../../core/errors.ts";

/** Where a module goes. */
export interface ModulePlace {
  /** The skill's folder. */
  readonly directory: string;
  /** Relative to it, as {@link checkPath} makes it. */
  readonly output: string;
}

/**
 * Writes a module into a skill's folder, whole or not at all, unless it is there already; answers whether it was not. A link in
 * its place is replaced, not followed.
 *
 * @throws {KitbagError} `build-failed` if a folder on the way is a link, or cannot be written.
 */
export function writeModule({ directory, output }: ModulePlace, module: Uint8Array): boolean {
  const root = realpathSync(directory);
  const path = join(root, output);
  const draft = `${path}.${randomBytes(6).toString("hex")}.new`;
  try {
    makeFolders(root, dirname(output));
    if (isSame(path, module)) return false;
    writeFileSync(draft, module, { flag: "wx", mode: 0o644 });
    renameSync(draft, path);
    return true;
  } catch (cause) {
    rmSync(draft, { force: true });
    const reason = `the module cannot be written: ${cause instanceof Error ? cause.message : String(cause)}`;
    throw new KitbagError("build-failed", { source: output, reason, lines: [] }, { cause });
  }
}

function isSame(path: string, module: Uint8Array): boolean {
  const found = lstatSync(path, { throwIfNoEntry: false });
  return found?.isFile() === true && found.size === module.length && readFileSync(path).equals(module);
}

/** Not through links: somebody else's work may be in the folder, and lead us out of it. */
function makeFolders(root: string, way: string): void {
  let folder = root;
  for (const name of way === "." ? [] : way.split("/")) {
    folder = join(folder, name);
    const found = lstatSync(folder, { throwIfNoEntry: false });
    if (found === undefined) mkdirSync(folder);
    else if (!found.isDirectory()) throw new Error(`${name} is a link, or not a folder`);
  }
}
