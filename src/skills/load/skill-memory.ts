import { dirname } from "node:path";

import { readFolder, type FolderSnapshot } from "../folder/read-folder.ts";
import type { SkillFacts } from "./skill-facts.ts";
import type { SkillReport } from "./skill-report.ts";

/** A folder as it was last read, and what was made of it. */
export interface RememberedFolder {
  readonly snapshot: FolderSnapshot;
  /** The bytes of the files are there. */
  readonly hasContents: boolean;
  /** By what they depend on beside the files. */
  facts?: { readonly key: string; readonly facts: SkillFacts };
  report?: { readonly key: string; readonly report: SkillReport };
}

/** Folders as they were last read, so that only those that changed are read again. */
export interface SkillMemory {
  read(directory: string): RememberedFolder;
  /** The same with the bytes of the files; read again if they were not kept. */
  readContents(directory: string): RememberedFolder;
  /** Forgets the folders that these paths are in, or that are in them. */
  forget(paths: readonly string[]): void;
  forgetAll(): void;
  /** Keeps only these folders, without the bytes of their files. */
  settle(directories: Iterable<string>): void;
}

/** What a memory holds. */
export interface SkillMemoryOptions {
  /** Whether `read` keeps the bytes of files: whoever looks at them later sees what was hashed. @default true */
  readonly keepsContents?: boolean;
}

/** Makes an empty memory. */
export function createSkillMemory({ keepsContents = true }: SkillMemoryOptions = {}): SkillMemory {
  const folders = new Map<string, RememberedFolder>();

  function readAnew(directory: string, hasContents: boolean): RememberedFolder {
    const folder: RememberedFolder = { snapshot: readFolder(directory, { keepsContents: hasContents }), hasContents };
    folders.set(directory, folder);
    return folder;
  }

  return {
    read: (directory) => folders.get(directory) ?? readAnew(directory, keepsContents),
    readContents(directory) {
      const folder = folders.get(directory);
      return folder?.hasContents === true ? folder : readAnew(directory, true);
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
        else if (folder.hasContents)
          folders.set(directory, {
            ...folder,
            snapshot: { ...folder.snapshot, contents: new Map() },
            hasContents: false,
          });
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
