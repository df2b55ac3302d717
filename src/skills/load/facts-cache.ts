import {
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from "node:fs";
import { dirname } from "node:path";

import type { SkillFacts } from "./skill-facts.ts";

/** Facts by what they were read from. */
export interface FactsCache {
  get(key: string): SkillFacts | undefined;
  set(key: string, facts: SkillFacts): void;
  /** Writes what is new. A cache that cannot be written is only slower, so this never throws. */
  save(): void;
}

/** Changes when the same files would give other facts. */
const version = 1;

/** How many skills are remembered; the ones that were not used for longest are forgotten. */
const maxEntries = 20_000;

const maxFileBytes = 256 * 1024 * 1024;

/**
 * Opens a cache in a file. The file belongs to the user, like the skills: it is read as it is, but anything that is not what we
 * wrote counts as empty.
 */
export function openFactsCache(path: string | undefined): FactsCache {
  const entries = path === undefined ? new Map<string, SkillFacts>() : readEntries(path);
  const used = new Set<string>();
  let isNew = false;
  return {
    get(key) {
      const facts = entries.get(key);
      if (facts !== undefined) used.add(key);
      return facts;
    },
    set(key, facts) {
      entries.set(key, facts);
      used.add(key);
      isNew = true;
    },
    save() {
      if (path === undefined || !isNew) return;
      const kept = [...entries]
        .toSorted(([left], [right]) => Number(used.has(right)) - Number(used.has(left)))
        .slice(0, maxEntries);
      writeEntries(path, kept);
      isNew = false;
    },
  };
}

function readEntries(path: string): Map<string, SkillFacts> {
  try {
    if ((statSync(path).size ?? 0) > maxFileBytes) return new Map();
    const content = JSON.parse(readFileSync(path, "utf8")) as { version?: unknown; entries?: unknown };
    if (content?.version !== version || !Array.isArray(content.entries)) return new Map();
    return new Map(content.entries.filter(isEntry));
  } catch {
    return new Map();
  }
}

function isEntry(value: unknown): value is [string, SkillFacts] {
  if (!Array.isArray(value) || typeof value[0] !== "string") return false;
  const facts: unknown = value[1];
  return typeof facts === "object" && facts !== null && "scripts" in facts && "diagnostics" in facts;
}

function writeEntries(path: string, entries: readonly (readonly [string, SkillFacts])[]): void {
  const draft = `${path}.${process.pid}.new`;
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    const file = openSync(draft, "w", 0o600);
    try {
      writeSync(file, JSON.stringify({ version, entries }));
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    renameSync(draft, path);
  } catch {
    rmSync(draft, { force: true });
  }
}
