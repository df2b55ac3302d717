import { existsSync, type FSWatcher, lstatSync, readdirSync, statSync, watch } from "node:fs";
import { basename, dirname, join } from "node:path";

import { collectHints, type CollectOptions } from "./collect-hints.ts";
import { isIgnoredFile, isIgnoredFolder } from "../folder/ignored-names.ts";

/** A watch over folders and files. */
export interface FolderWatch {
  /**
   * Watches these folders, with everything below them, and these files from now on, and no others. What is not there is waited
   * for. Answers with those that are watched now and were not before: what happened to them until now was not seen.
   */
  setFolders(folders: readonly string[], files?: readonly string[]): readonly string[];
  close(): void;
}

/**
 * Watches folders and calls `onChange` with the paths that may have changed; an empty list means that it is not known which. The
 * paths are hints: the caller looks at the disk.
 */
export function watchFolders(onChange: (paths: readonly string[]) => void, options: CollectOptions = {}): FolderWatch {
  const watches = new Map<string, Watching>();
  const { hint, close } = collectHints(onChange, options);
  const warnOnce = createLimitWarning();

  function start(path: string, isFile: boolean): void {
    const place = nearestFolder(isFile ? dirname(path) : path);
    try {
      const watching = place === path ? watchTree(path, { hint, onLimit: warnOnce }) : watchOne(place, path, hint);
      watches.set(path, { watching, place, identity: identityOf(place) });
      // Something may have come or gone before the watch began.
      if (!isCurrent(path, isFile)) hint(path);
    } catch {
      // It went away just now; the caller looks at the disk again and asks again.
      hint(path);
    }
  }

  function stop(path: string): void {
    watches.get(path)?.watching.close();
    watches.delete(path);
  }

  /** Whether the watch is on the current folder: not on one above it, and not on one that was deleted and made again. */
  function isCurrent(path: string, isFile: boolean): boolean {
    const known = watches.get(path);
    if (known === undefined) return false;
    const place = nearestFolder(isFile ? dirname(path) : path);
    return known.place === place && known.identity === identityOf(place);
  }

  return {
    setFolders(folders, files = []) {
      const wanted = new Map([
        ...folders.map((path) => [path, false] as const),
        ...files.map((path) => [path, true] as const),
      ]);
      for (const path of [...watches.keys()]) if (!wanted.has(path)) stop(path);
      const outdated = [...wanted].filter(([path, isFile]) => !isCurrent(path, isFile));
      for (const [path, isFile] of outdated) {
        stop(path);
        start(path, isFile);
      }
      return outdated.map(([path]) => path);
    },
    close() {
      close();
      for (const path of [...watches.keys()]) stop(path);
    },
  };
}

interface Watching {
  readonly watching: { close(): void };
  /** What is really watched: the folder itself, or the nearest one above it that is there. */
  readonly place: string;
  readonly identity: string | undefined;
}

/** Watches one folder for the next step of the way to `path`. */
function watchOne(folder: string, path: string, hint: (path?: string) => void): { close(): void } {
  const watcher = watch(folder, (_event, name) => {
    if (name === null || join(folder, name) === path || path.startsWith(`${join(folder, name)}/`)) hint(path);
    // The folder itself was deleted or moved.
    else if (name === basename(folder) && !existsSync(folder)) hint(path);
  });
  watcher.on("error", () => hint(path));
  return watcher;
}

function identityOf(folder: string): string | undefined {
  try {
    const { dev, ino } = statSync(folder);
    return `${dev}:${ino}`;
  } catch {
    return undefined;
  }
}

/** The folder itself, or the nearest one above it that is there. */
function nearestFolder(folder: string): string {
  let place = folder;
  while (!isFolder(place) && dirname(place) !== place) place = dirname(place);
  return place;
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}

function createLimitWarning(): (cause: unknown) => void {
  let isTold = false;
  return (cause) => {
    if (isTold) return;
    isTold = true;
    const reason = cause instanceof Error ? cause.message : String(cause);
    const cure = "raise fs.inotify.max_user_watches, or name the folders that hold skills";
    process.emitWarning(`Some skill folders are not watched: ${reason}; ${cure}`, "KitbagWarning");
  };
}

/** A watch over a folder and everything below it. */
export interface TreeWatch {
  close(): void;
}

/** What a watch tells. */
export interface TreeListener {
  /** Something at this path may have changed; without a path, it is not known what. */
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
function watchTree(root: string, listener: TreeListener): TreeWatch {
  return process.platform === "linux" ? watchEachFolder(root, listener) : watchWhole(root, listener);
}

function watchWhole(root: string, { hint }: TreeListener): TreeWatch {
  const watcher = watch(root, { recursive: true }, (_event, name) => {
    if (name === null) hint();
    else if (!name.split(/[\\/]/u).some(isIgnored)) hint(join(root, name));
  });
  watcher.on("error", () => hint());
  return watcher;
}

function watchEachFolder(root: string, { hint, onLimit }: TreeListener): TreeWatch {
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
    if (isRealFolder(path)) tryToAdd(path, depth);
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

function isRealFolder(path: string): boolean {
  try {
    return lstatSync(path).isDirectory();
  } catch {
    return false;
  }
}

function isIgnored(name: string): boolean {
  return isIgnoredFolder(name) || isIgnoredFile(name);
}
