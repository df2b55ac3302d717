import type { FolderSnapshot } from "../folder/read-folder.ts";
import { isInside } from "../folder/is-inside.ts";
import { readFolder } from "../folder/read-folder.ts";

/** Folders as they were last read, so that only those that changed are read again. */
export interface FolderMemory {
  read(directory: string): FolderSnapshot;
  /** Forgets the folders that these paths are in; all of them if there is no path. */
  forget(paths: readonly string[]): void;
}

/** Makes an empty memory. */
export function createFolderMemory(): FolderMemory {
  const snapshots = new Map<string, FolderSnapshot>();
  return {
    read(directory) {
      let snapshot = snapshots.get(directory);
      if (snapshot === undefined) {
        snapshot = readFolder(directory);
        snapshots.set(directory, snapshot);
      }
      return snapshot;
    },
    forget(paths) {
      if (paths.length === 0) snapshots.clear();
      for (const directory of snapshots.keys()) {
        if (paths.some((path) => isInside(path, directory) || isInside(directory, path))) snapshots.delete(directory);
      }
    },
  };
}
