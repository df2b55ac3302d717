import { dirname } from "node:path";

import { readFolder, type FolderSnapshot } from "../folder/read-folder.ts";
import type { SkillFacts } from "./skill-facts.ts";
import type { SkillReport } from "./skill-report.ts";

/** A folder as it was last read, and what was made of it. */
export interface RememberedFolder {
  readonly snapshot: FolderSnapshot;
  /** By what they depend on beside the files. */
  facts?: { readonly key: string; readonly facts: SkillFacts };
  report?: { readonly key: string; readonly report: SkillReport };
}

/** Folders as they were last read, so that only those that changed are read again. */
export interface SkillMemory {
  read(directory: string): RememberedFolder;
  /** Forgets the folders that these paths are in, or that are in them. */
  forget(paths: readonly string[]): void;
  forgetAll(): void;
  /** Keeps only these folders, without the bytes of their files, once the facts are known. */
  settle(directories: Iterable<string>): void;
}

/** Makes an empty memory. */
export function createSkillMemory(): SkillMemory {
  const folders = new Map<string, RememberedFolder>();
  return {
    read(directory) {
      let folder = folders.get(directory);
      if (folder === undefined) {
        folder = { snapshot: readFolder(directory) };
        folders.set(directory, folder);
      }
      return folder;
    },
    forget(paths) {
      const places = new Set(paths);
      for (const path of paths) for (const above of withParents(path)) folders.delete(above);
      for (const directory of [...folders.keys()]) {
        if (withParents(directory).some((above) => places.has(above))) folders.delete(directory);
      }
    },
    forgetAll: () => folders.clear(),
    settle(directories) {
      const kept = new Set(directories);
      for (const [directory, folder] of [...folders]) {
        if (!kept.has(directory)) folders.delete(directory);
        else if (folder.facts !== undefined && folder.snapshot.contents.size > 0)
          folders.set(directory, { ...folder, snapshot: { ...folder.snapshot, contents: new Map() } });
      }
    },
  };
}

function withParents(path: string): string[] {
  const all = [path];
  for (let place = path; dirname(place) !== place;) {
    place = dirname(place);
    all.push(place);
  }
  return all;
}
