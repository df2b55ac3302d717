import { readFileSync } from "node:fs";
import { join } from "node:path";
import { getHeapSpaceStatistics, setFlagsFromString } from "node:v8";

import type { Diagnostic } from "../../core/diagnostics.ts";
import type { Skill } from "../../core/skill.ts";
import { findLeftOut, type SkillFileCount } from "../../skills/discovery/find-left-out.ts";
import { type FindOptions, findSkills } from "../../skills/discovery/find-skills.ts";
import type { FolderSnapshot } from "../../skills/folder/read-folder.ts";
import { type FactsCache, openFactsCache } from "../../skills/load/facts-cache.ts";
import { type LoadSkillsOptions, reportShadowed } from "../../skills/load/load-skills.ts";
import { createSkillMemory, type SkillMemory } from "../../skills/load/skill-memory.ts";
import type { SkillReport } from "../../skills/load/skill-report.ts";
import { scanSkill } from "../../skills/scan/scan-skill.ts";
import { createPythonReader } from "../../skills/scripts/python/python-reader.ts";
import { loadSkills } from "../../workspace/skills/folder-skills.ts";
import { checkModules, checkNamedTools, checkRules, type NamingDocument } from "./check-gate.ts";
import { createUsesCheck, isOpenEnded, toolsOf } from "./check-uses.ts";

/** A folder with all that was found in it. */
export interface CheckedFolder {
  readonly report: SkillReport;
  /** What loading it does not tell. */
  readonly findings: readonly Diagnostic[];
}

/** All skill folders that were found, and every SKILL.md that does not make a skill. */
export interface CheckedFolders extends SkillFileCount {
  readonly folders: readonly CheckedFolder[];
  /** What belongs to no single folder. */
  readonly diagnostics: readonly Diagnostic[];
}

/** How many folders are in memory at once, with the bytes of their files. */
const atOnce = 16;

/** New objects get no more room than this, as soon as they have it: they are garbage when the next folders are read. */
const youngBytes = 8 * 1024 * 1024;

function limitYoungSpace(): void {
  const young = getHeapSpaceStatistics().find(({ space_name: name }) => name === "new_space");
  if ((young?.space_size ?? 0) >= youngBytes) setFlagsFromString("--semi-space-growth-factor=1");
}

/**
 * Reads and checks the skills of `places`, some folders at a time: of those that were checked only what others depend on is kept.
 * `directory` is what `./` in a permission is. Runs nothing but the code of trusted folders.
 */
export async function checkFolders(
  places: FindOptions,
  options: LoadSkillsOptions,
  directory: string,
): Promise<CheckedFolders> {
  const found = findSkills(places);
  const cache = openFactsCache(options.cacheFolder);
  const pythonReader = createPythonReader({ keepsHelpers: true });
  const read: ReadFolder[] = [];
  const diagnostics = new Map(found.diagnostics.map((one) => [JSON.stringify(one), one]));
  for (let start = 0; start < found.locations.length; start += atOnce) {
    const locations = found.locations.slice(start, start + atOnce);
    const memory = createSkillMemory();
    const loaded = await loadSkills({
      ...options,
      found: { locations, diagnostics: [] },
      ...{ cache, memory, pythonReader, keepsDuplicates: true },
      onProgress: (done) => options.onProgress?.(start * 2 + done, found.locations.length * 2),
    });
    for (const report of loaded.reports) read.push(await readFolder(report, { memory, cache, directory }));
    for (const one of loaded.diagnostics) diagnostics.set(JSON.stringify(one), one);
    cache.save();
    limitYoungSpace();
  }
  await pythonReader.close();
  const reports = reportShadowed(
    read.map(({ report }) => report),
    found.locations,
  );
  const left = findLeftOut(places, new Set(reports.map((report) => report.directory)));
  return { ...left, diagnostics: [...diagnostics.values()], folders: compare(reports, read) };
}

/** A folder that was checked alone. */
interface ReadFolder {
  readonly report: SkillReport;
  readonly document: NamingDocument | undefined;
  readonly callable: readonly Diagnostic[];
  readonly scanned: readonly Diagnostic[];
}

interface FolderParts {
  readonly memory: SkillMemory;
  readonly cache: FactsCache;
  /** What `./` in a permission is. */
  readonly directory: string;
}

async function readFolder(report: SkillReport, { memory, cache, directory }: FolderParts): Promise<ReadFolder> {
  const { snapshot, facts } = memory.read(report.directory);
  const { skill } = report;
  const { document } = facts?.facts ?? {};
  const read: ReadFolder = {
    report: toSlim(report),
    document: document && { file: document.file, tools: document.tools, allowedTools: document.allowedTools },
    callable: skill === undefined ? [] : [...(await checkModules(skill)), ...checkRules(skill, directory)],
    scanned: recallFindings(snapshot, cache),
  };
  // A part of a text keeps the whole text in memory; a copy does not.
  return structuredClone(read);
}

/** The findings of a folder follow from its files alone. */
function recallFindings(snapshot: FolderSnapshot, cache: FactsCache): readonly Diagnostic[] {
  const known = cache.getFindings(snapshot.digest);
  if (known !== undefined) return known;
  const findings = scanSkill(snapshot);
  cache.setFindings(snapshot.digest, findings);
  return findings;
}

/** A report without the texts, files and scripts of the skill: what it is compared with needs none. */
function toSlim(report: SkillReport): SkillReport {
  if (report.skill === undefined) return { ...report, scripts: [] };
  const { render: _, commands: __, earlier: ___, onActivate: _a, onDeactivate: _d, folder, ...skill } = report.skill;
  const slim: Skill = {
    ...skill,
    instructions: "",
    tools: skill.tools.map((tool) => ({ ...tool, code: { kind: tool.code.kind } })),
    ...(folder !== undefined && { folder: { ...folder, files: [] } }),
  };
  return { ...report, scripts: [], skill: slim };
}

/** Holds skills against each other: what they use and name. One that is not used is not compared. */
function compare(reports: readonly SkillReport[], read: readonly ReadFolder[]): readonly CheckedFolder[] {
  const checkUses = createUsesCheck(reports);
  const byName = new Map(reports.flatMap((report) => (report.skill === undefined ? [] : [[report.name, report]])));
  const findTools = (name: string): readonly string[] | undefined => {
    const found = byName.get(name);
    return found?.skill === undefined || isOpenEnded(found.skill) ? undefined : toolsOf(found);
  };
  return reports.map((report, index) => {
    const { document, callable = [], scanned = [] } = read[index] ?? {};
    const { skill } = report;
    if (skill === undefined) return { report, findings: scanned };
    const uses = checkUses(skill, (path) => readText(join(report.directory, path)));
    return { report, findings: [...uses, ...callable, ...checkNamedTools(skill, document, findTools), ...scanned] };
  });
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}
