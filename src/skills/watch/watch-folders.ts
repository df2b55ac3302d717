import { existsSync, statSync, watch } from "node:fs";
import { basename, dirname, join } from "node:path";

import { collectHints, type CollectOptions } from "./collect-hints.ts";
import { watchTree } from "./watch-tree.ts";

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
 * Watches folders and calls `onChange` with the paths that may have changed; an empty list means that nobody knows which. The
 * paths are hints: whoever gets them looks at the disk.
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
      // It went away just now; whoever asked looks at the disk again and asks again.
      hint(path);
    }
  }

  function stop(path: string): void {
    watches.get(path)?.watching.close();
    watches.delete(path);
  }

  /** Whether the watch is still on what is there: not on a folder above, and not on one that was deleted and made again. */
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
