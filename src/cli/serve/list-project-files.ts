import { opendir, realpath } from "node:fs/promises";
import { isAbsolute, join, relative, sep } from "node:path";

import { ownFolder } from "../store/find-project.ts";

/** So many paths are found at most, and so many entries of a folder looked at. */
const mostFound = 200;
const mostLookedAt = 10_000;

/**
 * Makes what finds files and folders whose paths begin with what somebody typed, for completions. Paths are relative to the project;
 * those of folders end with `/`. Nothing outside of the project is found, also not through a link, nothing of a `.kitbag`, where what
 * other users made lies, and what is hidden only if the typed name begins with a dot.
 */
export function createFileLister(project: string): (typed: string) => Promise<readonly string[]> {
  return async (typed) => {
    const end = typed.lastIndexOf("/") + 1;
    const [folder, start] = [typed.slice(0, end), typed.slice(end)];
    const directory = await findInside(project, folder);
    return directory === undefined
      ? []
      : listNames(directory, start).then((names) => names.map((name) => folder + name));
  };
}

/** The real path of a folder of the project; nothing if it is elsewhere, or not there. */
async function findInside(project: string, folder: string): Promise<string | undefined> {
  if (folder.includes("\0") || isAbsolute(folder) || folder.split("/").includes("..")) return undefined;
  try {
    const [root, directory] = await Promise.all([realpath(project), realpath(join(project, folder))]);
    const names = relative(root, directory).split(sep);
    return names[0] === ".." || names.some(isOwnFolder) ? undefined : directory;
  } catch {
    return undefined;
  }
}

/** Some file systems do not tell capital letters apart. */
function isOwnFolder(name: string): boolean {
  return name.toLowerCase() === ownFolder;
}

async function listNames(directory: string, start: string): Promise<string[]> {
  const names: string[] = [];
  let lookedAt = 0;
  try {
    for await (const entry of await opendir(directory)) {
      if ((lookedAt += 1) > mostLookedAt) break;
      const isWanted = entry.name.startsWith(start) && (!entry.name.startsWith(".") || start.startsWith("."));
      // A link may lead out of the project: it is found by nobody.
      if (isWanted && !isOwnFolder(entry.name) && (entry.isFile() || entry.isDirectory()))
        names.push(entry.isDirectory() ? `${entry.name}/` : entry.name);
    }
  } catch {
    return [];
  }
  return names.toSorted().slice(0, mostFound);
}
