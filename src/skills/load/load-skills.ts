import { basename } from "node:path";

import type { Diagnostic } from "../../core/diagnostics.ts";
import type { SkillFolder } from "../../core/skill.ts";
import { loadSkillCode, type SkillCode } from "../code/load-skill-code.ts";
import { type FindOptions, findSkills, type FoundSkills, type SkillLocation } from "../discovery/find-skills.ts";
import { compareRanks } from "../discovery/skill-rank.ts";
import { createPythonReader, type PythonReader } from "../scripts/python/python-reader.ts";
import { type FolderTrust, toDigests } from "../trust/folder-trust.ts";
import type { LockReader } from "../trust/lock-file.ts";
import { checkNeeds } from "./check-needs.ts";
import { checkTools } from "./check-tools.ts";
import { addEarlier } from "./earlier-versions.ts";
import { type FactsCache, openFactsCache } from "./facts-cache.ts";
import { createJudge, type Judge } from "./judge.ts";
import type { FolderToRead } from "./read-facts.ts";
import type { SkillFacts } from "./skill-facts.ts";
import { createLightMemory, createSkillMemory, type RememberedFolder, type SkillMemory } from "./skill-memory.ts";
import type { SkillReport } from "./skill-report.ts";
import type { SkillPlace } from "./skill-sources.ts";
import { toReport } from "./to-report.ts";
import type { MakePipeline } from "./to-tools.ts";

/** Where skills are looked for, and how they are read. */
export interface LoadSkillsOptions extends FindOptions {
  /** Holds every SKILL.md against the specification, to the letter. @default false */
  readonly spec?: boolean;
  /** A folder that remembers what was read, by digest. Never one that a project could bring. @default nothing is remembered */
  readonly cacheFolder?: string;
  /** Takes the place of `cacheFolder`; the caller saves it. */
  readonly cache?: FactsCache;
  /** Whether a folder may run. @default those that are named may, those of the user without a `skill.ts`, and none of a project */
  readonly trust?: FolderTrust;
  /** How long loading a skill's own code (`skill.ts`) may take. @default 5000 */
  readonly codeLimitMs?: number;
  /** What is pinned. @default nothing */
  readonly lock?: LockReader;
  /** Loads what makes pipelines, for the first skill that has one. @default such tools are refused */
  readonly loadPipelines?: () => Promise<MakePipeline>;
  /** Reads Python for several loads; the caller closes it. @default one for this load */
  readonly pythonReader?: PythonReader;
  /** Folders that were read before, so that only those that changed are read again. @default all are read */
  readonly memory?: SkillMemory;
  /** What was found; only this is read. @default the places of these options are searched */
  readonly found?: FoundSkills;
  /** Reads two skills of one name as two skills. @default only the one that goes before the other can be used */
  readonly keepsDuplicates?: boolean;
  /** Told after each folder. */
  readonly onProgress?: (done: number, total: number) => void;
}

/** Every folder that was found, each with a report of whether it was loaded. */
export interface LoadedSkills {
  readonly reports: readonly SkillReport[];
  /** What belongs to no single folder. An `error` means that something is missing or may not run. */
  readonly diagnostics: readonly Diagnostic[];
}

/**
 * Finds and reads skills. Runs nothing that is in them, but the code (`skill.ts`) of folders that may run: it says what the skill is.
 *
 * Contract: never throws for what is on the disk; every folder that was found has a report. A list of what is trusted, or a lock,
 * that cannot be read is an `error`, and nothing that needs it may run.
 */
export async function loadSkills(options: LoadSkillsOptions = {}): Promise<LoadedSkills> {
  const judge = createJudge(options);
  const cache = options.cache ?? openFactsCache(options.cacheFolder);
  const memory = options.memory ?? createMemoryFor(options, cache);
  const { locations, diagnostics } = options.found ?? findSkills(options, memory.isPlain);
  const reader = options.pythonReader ?? createPythonReader();
  const sources: FactSources = { memory, cache, reader, spec: options.spec ?? false };
  const found: FoundFolder[] = [];
  for (const [index, location] of locations.entries()) {
    const one: FoundFolder = { location, folder: memory.read(location.directory, location.plugin === undefined) };
    if (!hasFacts(one, sources)) one.started = (await loadFactsReader()).startFacts(one.folder.snapshot, reader);
    found.push(one);
    options.onProgress?.(index + 1, locations.length * 2);
    // A large tree must not hold up everything else in the process, and helpers wait for more to read.
    if (index % 64 === 63) await nextTurn();
  }
  await collectFacts(found, sources);
  if (options.pythonReader === undefined) await reader.close();
  let done = found.length;
  // Code that waits for something holds up no other.
  const reports = await Promise.all(
    found.map(async (one) => {
      const report = await recallReport(one, judge, options);
      options.onProgress?.((done += 1), found.length * 2);
      return report;
    }),
  );
  const usable = options.keepsDuplicates === true ? reports : reportShadowed(reports, locations);
  const complete = await withEarlier(usable, { ...options, cache });
  if (options.cache === undefined) cache.save();
  return { reports: judge.pin(complete), diagnostics: [...diagnostics, ...judge.diagnostics()] };
}

/** Earlier versions are judged with the folders: as something that the project brings. */
async function withEarlier(
  reports: readonly SkillReport[],
  { trust, cache, loadPipelines, codeLimitMs }: LoadSkillsOptions,
): Promise<readonly SkillReport[]> {
  if (trust === undefined) return reports;
  const options = {
    trust: (folder: Parameters<FolderTrust>[0]) => trust({ ...folder, scope: "project" }),
    ...(cache !== undefined && { cache }),
    ...(loadPipelines !== undefined && { loadPipelines }),
    ...(codeLimitMs !== undefined && { codeLimitMs }),
  };
  return addEarlier(reports, (directory) => loadSkills({ ...options, directories: [directory] }));
}

/** Bytes are kept where nothing is remembered, so that no folder is read twice. */
function createMemoryFor({ cacheFolder, cache: given }: LoadSkillsOptions, cache: FactsCache): SkillMemory {
  return cacheFolder === undefined && given === undefined ? createSkillMemory() : createLightMemory(cache);
}

interface FoundFolder {
  readonly location: SkillLocation;
  folder: RememberedFolder;
  /** What was begun for a folder whose facts are not known. */
  started?: FolderToRead["started"];
}

/** Where facts come from. */
interface FactSources {
  readonly memory: SkillMemory;
  readonly cache: FactsCache;
  readonly reader: PythonReader;
  readonly spec: boolean;
}

/** Whether the facts of a folder are remembered; where they are not, the folder has the bytes of its files afterwards. */
function hasFacts(one: FoundFolder, sources: FactSources): boolean {
  if (recallFacts(one, sources)) return true;
  if (one.folder.hasContents) return false;
  // The bytes that are read now are hashed anew: what is known about them belongs to exactly these bytes.
  one.folder = sources.memory.readContents(one.location.directory);
  return recallFacts(one, sources);
}

function recallFacts(one: FoundFolder, { cache, spec }: FactSources): boolean {
  const key = toKey(one, spec);
  if (one.folder.facts?.key === key) return true;
  const facts = cache.get(toCacheKey(one, key));
  if (facts !== undefined) one.folder.facts = { key, facts };
  return facts !== undefined;
}

/** What reads documents, manifests and scripts is much to load, and not needed where all facts are remembered. */
const loadFactsReader = async () => import("./read-facts.ts");

/** Reads the facts that are not remembered, all of them together. */
async function collectFacts(found: readonly FoundFolder[], { cache, reader, spec }: FactSources): Promise<void> {
  const missing = found.filter(({ started }) => started !== undefined);
  if (missing.length === 0) return;
  const { readFacts } = await loadFactsReader();
  const read = await readFacts(
    missing.map(({ location, folder: { snapshot }, started }) => ({
      snapshot,
      folderName: toFolderName(location),
      started,
    })),
    { spec, pythonReader: reader },
  );
  for (const [index, one] of missing.entries()) {
    const facts = checkTools(read[index] as SkillFacts);
    const key = toKey(one, spec);
    one.folder.facts = { key, facts };
    if (!dependsOnMachine(facts)) cache.set(toCacheKey(one, key), facts);
  }
}

/** Without Python, or when it was stopped, the facts are incomplete, and another load may find more. */
function dependsOnMachine({ scriptDiagnostics }: SkillFacts): boolean {
  return scriptDiagnostics.some((one) => one.code === "python-missing" || one.code === "python-failed");
}

/** The cache key of facts, for what they depend on besides the files: the name of a nameless skill, and the reading mode. */
function toKey({ location }: FoundFolder, spec: boolean): string {
  return `${spec ? "spec" : "plain"} ${toFolderName(location)}`;
}

/** Everything that facts depend on: with the files, and what could not be read of them. */
function toCacheKey({ folder: { snapshot } }: FoundFolder, key: string): string {
  return JSON.stringify([key, snapshot.digest, ...snapshot.diagnostics]);
}

function toFolderName({ path }: SkillLocation): string {
  return basename(path);
}

/** The same folder, judged in the same way, gives the same report: one that did not change is the same object. */
async function recallReport(found: FoundFolder, judge: Judge, options: LoadSkillsOptions): Promise<SkillReport> {
  const { folder } = found;
  const { key: factsKey, facts } = folder.facts as NonNullable<typeof folder.facts>;
  const place = toPlace(found, facts.code, judge);
  const key = JSON.stringify([place.path, place.folder.scope, place.folder.trust, factsKey]);
  if (folder.report?.key === key) return folder.report.report;
  const code = await loadTrusted(place.folder, facts, options.codeLimitMs ?? 5000);
  const hasPipelines = facts.manifest?.tools?.some(({ kind }) => kind === "pipeline") === true;
  const makePipeline = hasPipelines ? await options.loadPipelines?.() : undefined;
  const report = toReport(facts, place, {
    ...(makePipeline !== undefined && { makePipeline }),
    ...(code !== undefined && { code }),
  });
  folder.report = { key, report };
  return report;
}

function toPlace({ location, folder }: FoundFolder, code: string | undefined, judge: Judge): SkillPlace {
  const { directory, files, digest } = folder.snapshot;
  const { path, scope } = location;
  const place = { directory, files, digest, scope, ...(code !== undefined && { code }) };
  return { path, folder: { ...place, trust: judge.trust(place) }, folderName: toFolderName(location) };
}

/** A folder that cannot be used anyway runs nothing. */
async function loadTrusted(
  { directory, files, code: file, trust }: SkillFolder,
  facts: SkillFacts,
  limitMs: number,
): Promise<SkillCode | undefined> {
  const isBroken = [...facts.diagnostics, ...checkNeeds(facts)].some((one) => one.severity === "error");
  if (file === undefined || trust.status === "untrusted" || isBroken) return undefined;
  return loadSkillCode({ directory, files: toDigests(files), file, limitMs });
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}

/** Two skills of one name: the original is used, the others say so. */
export function reportShadowed(reports: readonly SkillReport[], locations: readonly SkillLocation[]): SkillReport[] {
  const winners = new Map<string, number>();
  for (const [index, { name, skill }] of reports.entries()) {
    if (skill === undefined) continue;
    const known = winners.get(name);
    if (known === undefined || goesBefore(locations[index], locations[known])) winners.set(name, index);
  }
  return reports.map((report, index) => {
    const winner = report.skill === undefined ? index : (winners.get(report.name) ?? index);
    const first = reports[winner];
    if (winner === index || first === undefined) return report;
    return toShadowed(report, first, (locations[index]?.rank.copies ?? 0) > 0);
  });
}

function goesBefore(one: SkillLocation | undefined, other: SkillLocation | undefined): boolean {
  return one !== undefined && other !== undefined && compareRanks(one.rank, other.rank) < 0;
}

/** A copy that is not used does no harm; another skill of the same name is one that the person may miss. */
function toShadowed({ skill, ...report }: SkillReport, winner: SkillReport, isCopy: boolean): SkillReport {
  const isSame = skill?.folder !== undefined && skill.folder.digest === winner.skill?.folder?.digest;
  const message = isSame
    ? `Not used, because ${winner.path} is the same skill, file by file`
    : isCopy
      ? `Not used, because its folder is one of copies, and ${winner.path} has the skill of this name`
      : `Skipped, because ${winner.path} has a skill of the same name and goes before it`;
  const severity = isSame || isCopy ? "info" : "error";
  const diagnostic: Diagnostic = { severity, code: "skill-shadowed", message, file: "SKILL.md" };
  return { ...report, status: "skipped", diagnostics: [...report.diagnostics, diagnostic] };
}
