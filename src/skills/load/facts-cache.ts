import type { MarkedFolder } from "../folder/folder-marks.ts";
import type { Finding } from "../scan/finding.ts";
import { openLineCache } from "./line-cache.ts";
import type { SkillFacts } from "./skill-facts.ts";

/** What is remembered between two programs. */
export interface FactsCache {
  /** Facts by what they were read from. */
  get(key: string): SkillFacts | undefined;
  set(key: string, facts: SkillFacts): void;
  /** What a careful reader would stop at, by the digest of the folder. */
  getFindings(digest: string): readonly Finding[] | undefined;
  setFindings(digest: string, findings: readonly Finding[]): void;
  /** How a folder was when it was last read, by its real path. */
  getFolder(directory: string): MarkedFolder | undefined;
  setFolder(directory: string, folder: MarkedFolder): void;
  /** Writes what is new. A cache that cannot be written is only slower, so this never throws. */
  save(): void;
}

/** Opens a cache in a file that belongs to one person (see {@link openLineCache}), or in memory. */
export function openFactsCache(path: string | undefined): FactsCache {
  const cache = openLineCache(path);
  return {
    get: (key) => cache.get(`facts ${key}`) as SkillFacts | undefined,
    set: (key, facts) => cache.set(`facts ${key}`, facts),
    getFindings: (digest) => cache.get(`findings ${digest}`) as readonly Finding[] | undefined,
    setFindings: (digest, findings) => cache.set(`findings ${digest}`, findings),
    getFolder: (directory) => cache.get(`folder ${directory}`) as MarkedFolder | undefined,
    setFolder: (directory, folder) => cache.set(`folder ${directory}`, folder),
    save: cache.save,
  };
}
