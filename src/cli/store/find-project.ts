import { accessSync, constants, existsSync, lstatSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";

import { toRealPath } from "../../platform/paths.ts";

/** The folder of a project that Kitbag's own files are in. */
export const ownFolder = ".kitbag";

/** Tells whether tools were made in a project. */
export function hasMadeTools(cwd: string): boolean {
  return existsSync(join(cwd, ownFolder, "tools"));
}

/** The project of a working directory. */
export interface ProjectPlace {
  /** From the working directory up to the root of its repository; without one, up to the folder that has a `.kitbag`. */
  readonly folders: readonly string[];
  /** The folder that has the `.kitbag`, or shall have it; none outside of a project. */
  readonly root?: string;
}

/**
 * Finds the project of a folder: the nearest folder with a `.kitbag` that is ours, else the root of the repository. A home directory,
 * also an earlier one, is no project: its `.kitbag` holds the files of the person.
 */
export function findProject(cwd: string, home: string = homedir()): ProjectPlace {
  const homes = new Set([home, toRealPath(home)]);
  const folders: string[] = [];
  let root: string | undefined;
  for (let folder = cwd; !homes.has(folder); folder = dirname(folder)) {
    const [isHome, isRepository] = [isOfHome(join(folder, ownFolder)), existsSync(join(folder, ".git"))];
    if (isHome && !isRepository) break;
    folders.push(folder);
    if (root === undefined && !isHome && isOurs(join(folder, ownFolder))) root = folder;
    if (isRepository) return isHome && root === undefined ? { folders } : { folders, root: root ?? folder };
    if (dirname(folder) === folder) break;
  }
  return root === undefined ? { folders: [cwd] } : { folders: folders.slice(0, folders.indexOf(root) + 1), root };
}

/** Tells whether a folder has a `.kitbag` that is ours, or may get one: a home directory, and one that cannot be written, may not. */
export function canBeProject(folder: string, home: string = homedir()): boolean {
  if (folder === home || folder === toRealPath(home)) return false;
  const own = join(folder, ownFolder);
  return lstatSync(own, { throwIfNoEntry: false }) === undefined ? isWritable(folder) : isOurs(own) && !isOfHome(own);
}

/** What only the `.kitbag` of a home directory has. */
const homeFiles = ["tokens", "trust.json", "audit.key"];

function isOfHome(own: string): boolean {
  return homeFiles.some((name) => existsSync(join(own, name)));
}

function isWritable(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/** A link could lead anywhere, and another user could read and change what is kept in a folder of theirs. */
function isOurs(path: string): boolean {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found?.isDirectory() !== true) return false;
  return process.getuid === undefined || found.uid === process.getuid();
}
