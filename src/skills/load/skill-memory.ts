import { dirname, sep } from "node:path";

import { hasSameMarks } from "../folder/folder-marks.ts";
import { readFolder, type FolderSnapshot } from "../folder/read-folder.ts";
import type { FactsCache } from "./facts-cache.ts";
import type { SkillFacts } from "./skill-facts.ts";
import type { SkillReport } from "./skill-report.ts";

/** A folder as it was last read, and what was made of it. */
export interface RememberedFolder {
  readonly snapshot: FolderSnapshot;
  /** Whether the snapshot holds the bytes of the files. */
  readonly hasContents: boolean;
  /** With a key for what they depend on besides the files. */
  facts?: { readonly key: string; readonly facts: SkillFacts };
  report?: { readonly key: string; readonly report: SkillReport };
  /** Whether it is a single skill and no part of a plugin, so that it contains no other skills. */
  readonly isPlain?: boolean;
}

/** Folders as they were last read, so that only those that changed are read again. */
export interface SkillMemory {
  /** Reads a folder, if it is not remembered. `isPlain`: it is known to be a skill and no part of a plugin. */
  read(directory: string, isPlain?: boolean): RememberedFolder;
  /** Whether the folder was a skill and nothing else when it was read, and is as it was then. */
  isPlain(directory: string): boolean;
  /** The same with the bytes of the files; read again if they were not kept. */
  readContents(directory: string): RememberedFolder;
  /** Forgets the folders that these paths are in, or that are in them. */
  forget(paths: readonly string[]): void;
  forgetAll(): void;
  /** Keeps only these folders, without the bytes of their files. */
  settle(directories: Iterable<string>): void;
}

/** Makes an empty memory that keeps the bytes of files: a later reader sees what was hashed. */
export function createSkillMemory(): SkillMemory {
  return createMemory({ read: (directory) => readAnew(directory, true), recall: () => undefined });
}

/**
 * Makes a memory that keeps no bytes, and does not even read a folder whose marks are those that `cache` has for it. That holds
 * until the folder is forgotten: then it is read.
 */
export function createLightMemory(cache: FactsCache): SkillMemory {
  return createMemory({
    recall(directory) {
      const known = cache.getFolder(directory);
      if (known === undefined || !hasSameMarks(directory, known.marks)) return undefined;
      const { files, digest, isPlain = false } = known;
      const snapshot = { directory, files, digest, contents: new Map(), diagnostics: [] };
      return { snapshot, hasContents: false, isPlain };
    },
    read(directory, isPlain) {
      const folder = readAnew(directory, false);
      const { files, digest, marks } = folder.snapshot;
      // The place may lead somewhere else by now.
      if (marks !== undefined && folder.snapshot.directory === directory)
        cache.setFolder(directory, { files, digest, marks, ...(isPlain && { isPlain }) });
      return folder;
    },
  });
}

function readAnew(directory: string, hasContents: boolean): RememberedFolder {
  return { snapshot: readFolder(directory, { keepsContents: hasContents, takesMarks: !hasContents }), hasContents };
}

/** Where folders come from that are not in memory. */
interface FolderSource {
  /** What was remembered elsewhere, if the folder is still like that. */
  recall(directory: string): RememberedFolder | undefined;
  read(directory: string, isPlain: boolean): RememberedFolder;
}

function createMemory(source: FolderSource): SkillMemory {
  const folders = new Map<string, RememberedFolder>();
  const forgotten = new Set<string>();

  function recall(directory: string): RememberedFolder | undefined {
    const known = folders.get(directory);
    if (known !== undefined || forgotten.has(directory)) return known;
    const recalled = source.recall(directory);
    return recalled && keep(directory, recalled);
  }

  function keep(directory: string, folder: RememberedFolder): RememberedFolder {
    folders.set(directory, folder);
    return folder;
  }

  function drop(directory: string): void {
    if (folders.delete(directory)) forgotten.add(directory);
  }

  return {
    read(directory, isPlain = false) {
      const known = recall(directory);
      if (known?.isPlain === isPlain) return known;
      return keep(directory, { ...(known ?? source.read(directory, isPlain)), isPlain });
    },
    isPlain: (directory) => recall(directory)?.isPlain === true,
    readContents(directory) {
      const folder = folders.get(directory);
      if (folder?.hasContents === true) return folder;
      return keep(directory, { ...readAnew(directory, true), isPlain: folder?.isPlain === true });
    },
    forget(paths) {
      for (const path of paths) for (const above of withParents(path)) drop(above);
      const starts = paths.map((path) => (path.endsWith(sep) ? path : path + sep));
      for (const directory of [...folders.keys()]) {
        if (starts.some((start) => directory.startsWith(start))) drop(directory);
      }
    },
    forgetAll() {
      for (const directory of [...folders.keys()]) drop(directory);
    },
    settle(directories) {
      const kept = new Set(directories);
      for (const [directory, folder] of [...folders]) {
        if (!kept.has(directory)) drop(directory);
        else if (folder.hasContents) folders.set(directory, withoutContents(folder));
      }
    },
  };
}

function withoutContents(folder: RememberedFolder): RememberedFolder {
  return { ...folder, snapshot: { ...folder.snapshot, contents: new Map() }, hasContents: false };
}

function withParents(path: string): string[] {
  const all = [path];
  for (let place = path; dirname(place) !== place;) {
    place = dirname(place);
    all.push(place);
  }
  return all;
}
