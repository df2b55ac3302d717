import { lstatSync, readdirSync, watch, type FSWatcher } from "node:fs";
import { join } from "node:path";

import { isIgnoredFile, isIgnoredFolder } from "../folder/ignored-names.ts";

/** A watch over a folder and everything below it. */
export interface TreeWatch {
  close(): void;
}

/** What a watch tells. */
export interface TreeListener {
  /** Something at this path may have changed; without a path, nobody knows what. */
  hint(path?: string): void;
  /** The system does not let more folders be watched: changes in some of them will not be seen. */
  onLimit(cause: unknown): void;
}

/** Folders below this depth are below every skill that is read. */
const maxDepth = 24;

/**
 * Watches a folder and everything below it, but for what is never part of a skill. Links are not followed. Where the system
 * watches whole trees by itself that is used; on Linux each folder is watched, because what Node does there also watches every
 * file, and loses folders that are deleted and made again.
 *
 * Throws what the system says if `root` cannot be watched.
 */
export function watchTree(root: string, listener: TreeListener): TreeWatch {
  return process.platform === "linux" ? watchFolders(root, listener) : watchWhole(root, listener);
}

function watchWhole(root: string, { hint }: TreeListener): TreeWatch {
  const watcher = watch(root, { recursive: true }, (_event, name) => {
    if (name === null) hint();
    else if (!name.split(/[\\/]/u).some(isIgnored)) hint(join(root, name));
  });
  watcher.on("error", () => hint());
  return watcher;
}

function watchFolders(root: string, { hint, onLimit }: TreeListener): TreeWatch {
  const watchers = new Map<string, FSWatcher>();

  function add(folder: string, depth: number): void {
    const watcher = watch(folder, (event, name) => {
      if (name === null) return hint();
      if (isIgnored(name)) return;
      const path = join(folder, name);
      // A folder that appeared is watched from now on; files that are already in it are covered by the hint.
      if (event === "rename") renew(path, depth + 1);
      hint(path);
    });
    // A folder that is deleted may end its watch like this.
    watcher.on("error", () => {
      drop(folder);
      hint(folder);
    });
    watchers.set(folder, watcher);
    // The watch comes first: what appears while the folder is listed is seen by one of both.
    if (depth >= maxDepth) return;
    for (const item of readdirSync(folder, { withFileTypes: true })) {
      if (item.isDirectory() && !isIgnoredFolder(item.name)) tryToAdd(join(folder, item.name), depth + 1);
    }
  }

  function tryToAdd(folder: string, depth: number): void {
    try {
      add(folder, depth);
    } catch (cause) {
      // A folder that went away meanwhile is no loss; its parent tells of it.
      const code = (cause as NodeJS.ErrnoException).code ?? "";
      if (["ENOSPC", "EMFILE", "ENFILE"].includes(code)) onLimit(cause);
    }
  }

  function renew(path: string, depth: number): void {
    if (watchers.has(path)) drop(path);
    if (isFolder(path)) tryToAdd(path, depth);
  }

  function drop(folder: string): void {
    for (const [path, watcher] of [...watchers]) {
      if (path !== folder && !path.startsWith(`${folder}/`)) continue;
      watchers.delete(path);
      watcher.close();
    }
  }

  add(root, 0);
  return { close: () => drop(root) };
}

function isFolder(path: string): boolean {
  try {
    return lstatSync(path).isDirectory();
  } catch {
    return false;
  }
}

function isIgnored(name: string): boolean {
  return isIgnoredFolder(name) || isIgnoredFile(name);
}
