import { basename } from "node:path";

import type { Diagnostic } from "../../core/diagnostics.ts";
import type { SkillFolder, SkillTrust } from "../../core/skill.ts";
import { findSkills, type FindOptions, type SkillLocation } from "../discovery/find-skills.ts";
import { readFolder, type FolderSnapshot } from "../folder/read-folder.ts";
import { openFactsCache, type FactsCache } from "./facts-cache.ts";
import type { FolderMemory } from "./folder-memory.ts";
import { readFacts } from "./read-facts.ts";
import type { SkillFacts } from "./skill-facts.ts";
import type { SkillReport } from "./skill-report.ts";
import { toReport } from "./to-report.ts";
import type { MakePipeline } from "./to-tools.ts";

/** Where skills are looked for, and how they are read. */
export interface LoadSkillsOptions extends FindOptions {
  /** Holds every SKILL.md against the specification, to the letter. @default false */
  readonly spec?: boolean;
  /** A file that remembers what was read, by digest. @default nothing is remembered */
  readonly cacheFile?: string;
  /** Takes the place of `cacheFile`. */
  readonly cache?: FactsCache;
  /** Whether a folder may run. @default folders of a project may not, all others may */
  readonly trust?: (folder: Omit<SkillFolder, "trust">) => SkillTrust;
  readonly makePipeline?: MakePipeline;
  /** Folders that were read before, so that only those that changed are read again. @default all are read */
  readonly memory?: FolderMemory;
  /** Told after each folder. */
  readonly onProgress?: (done: number, total: number) => void;
}

/** Every folder that was found, each with what became of it. */
export interface LoadedSkills {
  readonly reports: readonly SkillReport[];
  /** What belongs to no single folder. */
  readonly diagnostics: readonly Diagnostic[];
}

/**
 * Finds and reads skills. Runs nothing that is in them.
 *
 * Contract: never throws for what is on the disk; every folder that was found has a report.
 */
export async function loadSkills(options: LoadSkillsOptions = {}): Promise<LoadedSkills> {
  const { locations, diagnostics } = findSkills(options);
  const cache = options.cache ?? openFactsCache(options.spec === true ? undefined : options.cacheFile);
  const snapshots: FolderSnapshot[] = [];
  for (const [index, location] of locations.entries()) {
    snapshots.push((options.memory?.read ?? readFolder)(location.directory));
    options.onProgress?.(index + 1, locations.length * 2);
    // A large tree must not hold up everything else in the process.
    if (index % 64 === 63) await nextTurn();
  }
  const facts = await collectFacts(locations, snapshots, cache, options);
  cache.save();
  const reports = locations.map((location, index) => {
    const snapshot = snapshots[index] as FolderSnapshot;
    const report = toReport(
      facts[index] as SkillFacts,
      toPlace(location, snapshot, options.trust),
      options.makePipeline,
    );
    options.onProgress?.(locations.length + index + 1, locations.length * 2);
    return report;
  });
  return { reports: reportShadowed(reports), diagnostics };
}

async function collectFacts(
  locations: readonly SkillLocation[],
  snapshots: readonly FolderSnapshot[],
  cache: FactsCache,
  options: LoadSkillsOptions,
): Promise<SkillFacts[]> {
  const keys = snapshots.map(
    (snapshot, index) => `${toFolderName(locations[index] as SkillLocation)} ${snapshot.digest}`,
  );
  const known = keys.map((key, index) => (snapshots[index]?.diagnostics.length === 0 ? cache.get(key) : undefined));
  const missing = snapshots
    .map((snapshot, index) => ({ snapshot, index }))
    .filter(({ index }) => known[index] === undefined);
  const read = await readFacts(
    missing.map(({ snapshot, index }) => ({ snapshot, folderName: toFolderName(locations[index] as SkillLocation) })),
    { spec: options.spec ?? false },
  );
  for (const [position, { snapshot, index }] of missing.entries()) {
    const facts = read[position] as SkillFacts;
    known[index] = facts;
    // What the disk did is not in the digest, so it is not remembered.
    if (snapshot.diagnostics.length === 0) cache.set(keys[index] as string, facts);
  }
  return known as SkillFacts[];
}

function toFolderName({ path, plugin }: SkillLocation): string {
  const name = basename(path);
  return plugin === undefined || plugin === name ? name : `${plugin}.${name}`;
}

function toPlace(
  location: SkillLocation,
  snapshot: FolderSnapshot,
  trust: LoadSkillsOptions["trust"],
): { path: string; folder: SkillFolder; folderName: string } {
  const folder = {
    directory: snapshot.directory,
    files: snapshot.files,
    digest: snapshot.digest,
    scope: location.scope,
  };
  return {
    path: location.path,
    folder: { ...folder, trust: (trust ?? trustByScope)(folder) },
    folderName: toFolderName(location),
  };
}

/** What somebody cloned is not what somebody installed or named. */
function trustByScope({ scope }: Omit<SkillFolder, "trust">): SkillTrust {
  return scope === "project" ? { status: "untrusted", changed: [] } : { status: "trusted" };
}

/** Two skills of one name: the first in order is used, the others say so. */
function reportShadowed(reports: readonly SkillReport[]): SkillReport[] {
  const first = new Map<string, SkillReport>();
  return reports.map((report) => {
    const winner = report.skill === undefined ? undefined : first.get(report.name);
    if (winner === undefined) {
      if (report.skill !== undefined) first.set(report.name, report);
      return report;
    }
    const message = `Skipped, because ${winner.path} has a skill of the same name and goes before it`;
    const { skill: _, ...rest } = report;
    const diagnostic: Diagnostic = { severity: "error", code: "skill-shadowed", message, file: "SKILL.md" };
    return { ...rest, status: "skipped", diagnostics: [...report.diagnostics, diagnostic] };
  });
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
