import { existsSync, statSync, watch, type FSWatcher } from "node:fs";
import { dirname, join } from "node:path";

import { collectHints, type CollectOptions } from "./collect-hints.ts";

/** A watch over folders. */
export interface FolderWatch {
  /** Watches these folders from now on, and no others. One that is not there is waited for. */
  setFolders(folders: readonly string[]): void;
  close(): void;
}

/**
 * Watches folders and calls `onChange` with the paths that may have changed; an empty list means that nobody knows which. The
 * paths are hints: whoever gets them looks at the disk.
 */
export function watchFolders(onChange: (paths: readonly string[]) => void, options: CollectOptions = {}): FolderWatch {
  const watchers = new Map<string, Watching>();
  const { hint, close } = collectHints(onChange, options);

  function start(folder: string): void {
    const place = nearestFolder(folder);
    try {
      // A folder that is not there yet appears in one above it; only the folder itself is watched to its bottom.
      const watcher = watch(place, { recursive: place === folder }, (_event, name) => {
        hint(name === null ? undefined : join(place, name));
      });
      // A folder that is deleted ends its watch; the next look at the disk sets it up again.
      watcher.on("error", () => {
        stop(folder);
        hint();
      });
      watchers.set(folder, { watcher, place, identity: identityOf(place) });
    } catch {
      // It went away just now; whoever asked looks at the disk again and asks again.
      hint();
    }
  }

  function stop(folder: string): void {
    watchers.get(folder)?.watcher.close();
    watchers.delete(folder);
  }

  return {
    setFolders(folders) {
      for (const folder of watchers.keys()) if (!folders.includes(folder)) stop(folder);
      for (const folder of folders) {
        const known = watchers.get(folder);
        if (known?.place === folder && known.identity === identityOf(folder)) continue;
        // The watch began on a folder above, or the folder was deleted and made again.
        stop(folder);
        start(folder);
      }
    },
    close() {
      close();
      for (const folder of [...watchers.keys()]) stop(folder);
    },
  };
}

interface Watching {
  readonly watcher: FSWatcher;
  /** The folder itself, or the nearest one above it that is there. */
  readonly place: string;
  readonly identity: string | undefined;
}

function identityOf(folder: string): string | undefined {
  const status = statSync(folder, { throwIfNoEntry: false });
  return status === undefined ? undefined : `${status.dev}:${status.ino}`;
}

function nearestFolder(folder: string): string {
  let place = folder;
  while (!existsSync(place) && dirname(place) !== place) place = dirname(place);
  return place;
}
