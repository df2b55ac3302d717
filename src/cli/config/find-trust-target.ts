import { existsSync, readFileSync, statSync } from "node:fs";
import { basename, dirname } from "node:path";

import { findSkills, isSkillFolder, projectFolders } from "../../skills/discovery/find-skills.ts";
import { isSkillFile } from "../../skills/discovery/is-skill.ts";
import { isInside, toRealPath } from "../../platform/paths.ts";
import { removedTrust, type TrustList, type Digests } from "../../skills/trust/trust-format.ts";
import { usageError, type CliContext } from "../cli-command.ts";
import { configNames, findConfigIn, resolveConfig } from "./find-config.ts";
import { findGrants, parseJsonConfig } from "./to-workspace-options.ts";
import type { Diagnostic } from "../../core/diagnostics.ts";
import type { Skill, SkillFolder } from "../../core/skill.ts";
import { joinGrants, type SkillGrant } from "../../core/skill-grant.ts";
import { resolveKitbagHome } from "../../platform/home.ts";
import { findNeeds, toOffer, type SkillNeed } from "../../skills/load/find-needs.ts";
import { readGrant } from "../../skills/trust/set-grant.ts";
import { createSkillMemory } from "../../skills/load/skill-memory.ts";
import type { SkillReport } from "../../skills/load/skill-report.ts";
import type { FolderTrust } from "../../skills/trust/folder-trust.ts";
import { toLoadOptions } from "../skills/load-reports.ts";
import { toPrintable } from "../printable.ts";
import { toShownPath } from "../render.ts";
import { whySkipped } from "../skills/render-diagnostics.ts";
import { scanSkill } from "../../skills/scan/scan-skill.ts";
import { findImports } from "./find-imports.ts";
import { loadJsonConfig } from "./open-workspace.ts";

/** What a person named to be trusted. */
export interface TrustTarget {
  /** As the person named it, absolute. */
  readonly path: string;
  /** The real path of a configuration that is a program, or says which to start. */
  readonly config?: string;
  /** Skills, or folders of skills. */
  readonly directories: readonly string[];
}

/**
 * Finds what a path means: a configuration, a skill, the configuration and the skills of a project, or a folder of skills. The skills
 * below a folder whose trust was removed belong to it, so that it undoes `--remove` of the same folder.
 *
 * @throws {KitbagError} `usage-invalid` if there is nothing to trust; `config-invalid` if a configuration cannot be used.
 */
export function findTrustTarget(
  path: string,
  { folders }: Pick<TrustList, "folders"> = { folders: new Map() },
): TrustTarget {
  if (!isFolder(path)) return { path, ...findInFile(path) };
  const config = findConfigIn(path);
  const directories = [...findSkillFolders(path), ...findRemoved(path, folders)];
  const program = config !== undefined && mustBeTrusted(config) ? config : undefined;
  if (program === undefined && directories.length === 0) {
    if (config !== undefined) throw dataError(config);
    throw usageError(`Cannot trust ${path}: it has neither a configuration nor skills`);
  }
  return { path, directories, ...(program !== undefined && { config: program }) };
}

function findInFile(path: string): Omit<TrustTarget, "path"> {
  const name = basename(path);
  if (isSkillFile(name) && existsSync(path)) return { directories: [dirname(path)] };
  if (!configNames.includes(name)) {
    const names = `a configuration is called ${configNames.join(", ")}, a skill is a folder with SKILL.md or skill.ts`;
    throw usageError(`Cannot trust ${path}: only configurations and skills are trusted; ${names}`);
  }
  const config = resolveConfig(path);
  if (!mustBeTrusted(config)) throw dataError(config);
  return { config, directories: [] };
}

/** Tells whether a configuration counts only if it is trusted. @throws {KitbagError} `config-invalid` */
export function mustBeTrusted(config: string): boolean {
  return !config.endsWith(".json") || findGrants(parseJsonConfig(readFileSync(config, "utf8"), config)).length > 0;
}

function dataError(config: string): Error {
  return usageError(`Cannot trust ${config}: it is only data, so it needs no trust`);
}

/**
 * The skills, or folders of skills, that a folder stands for. A project's skills are in places of their own: whatever else lies around
 * in it is not found, so it needs no trust.
 */
export function findSkillFolders(path: string): string[] {
  if (!isFolder(path)) return [];
  if (isSkillFolder(path)) return [path];
  const own = projectFolders(path).filter((folder) => dirname(dirname(folder)) === path && hasSkills(folder));
  if (own.length > 0) return own;
  return findConfigIn(path) === undefined && hasSkills(path) ? [path] : [];
}

/** The skills below a folder whose trust was removed, and that are still there. */
function findRemoved(path: string, folders: TrustList["folders"]): string[] {
  const place = toRealPath(path);
  return [...folders].flatMap(([folder, files]) =>
    files.size === removedTrust.size && isInside(folder, place) && isFolder(folder) && isSkillFolder(folder)
      ? [folder]
      : [],
  );
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

function hasSkills(path: string): boolean {
  return findSkills({ directories: [path] }).locations.length > 0;
}

/** A skill that may be trusted, as it is now. */
export interface LookedAtSkill {
  readonly report: SkillReport;
  readonly skill: Skill;
  readonly folder: SkillFolder;
  /** What is said about it, and what a careful reader would stop at. */
  readonly diagnostics: readonly Diagnostic[];
  /** What this person granted it from outside before, and still does when it is trusted as it is now. */
  readonly kept: SkillGrant;
  /** What the project's lock grants it besides, without this person's yes. */
  readonly proposed: SkillGrant;
  /** What its scripts seem to need besides. */
  readonly needs: readonly SkillNeed[];
}

/** What a yes grants a skill from outside besides what is kept. */
export function toOffered({ proposed, needs }: Pick<LookedAtSkill, "needs" | "proposed">): SkillGrant {
  return joinGrants([proposed, toOffer(needs)]);
}

/** A configuration that may be trusted, as it is now. */
interface LookedAtConfig {
  readonly path: string;
  readonly files: Digests;
  /** The keys that need trust, if it is data. */
  readonly keys: readonly string[];
}

/** What is shown to the person, and trusted if they say so: exactly these bytes. */
export interface LookedAt {
  readonly config?: LookedAtConfig;
  readonly skills: readonly LookedAtSkill[];
  /** Folders that are no use, with the reason. */
  readonly skipped: readonly SkillReport[];
  /** The other skills of the project, for what the trusted ones use of them. */
  readonly others: readonly SkillReport[];
}

/**
 * Reads what a person wants to trust. Runs nothing of it that is not trusted already.
 *
 * @throws {KitbagError} `usage-invalid` if none of the skills can be used; `config-invalid` if a file cannot be read.
 */
export async function lookAt(target: TrustTarget, context: CliContext): Promise<LookedAt> {
  const config = target.config === undefined ? {} : { config: lookAtConfig(target.config) };
  if (target.directories.length === 0) return { ...config, skills: [], skipped: [], others: [] };
  const { loadSkills } = await import("../../workspace/skills/folder-skills.ts");
  const options = toLoadOptions(context, target.directories);
  // The bytes that were read are the bytes that are scanned, shown and trusted.
  const memory = createSkillMemory();
  const { reports } = await loadSkills({ ...options, directories: target.directories, memory });
  const skills = reports.flatMap((report) => {
    const { skill } = report;
    if (skill?.folder === undefined) return [];
    const findings = scanSkill(memory.read(report.directory).snapshot);
    const { folder } = skill;
    const diagnostics = [...report.diagnostics, ...findings];
    const { own, proposed } = readGrant({ home: resolveKitbagHome(context.env), lockPath: options.lock?.path, folder });
    const needs = findNeeds(report, joinGrants([own, proposed]));
    return [{ report, skill, folder, diagnostics, kept: own, proposed, needs }];
  });
  const skipped = reports.filter((report) => report.skill === undefined);
  if (skills.length === 0 && target.config === undefined) {
    const [first] = skipped.flatMap((report) => report.diagnostics.filter(({ severity }) => severity === "error"));
    throw usageError(
      `Cannot trust ${target.path}: no skill in it can be used: ${first?.message ?? "there is no skill in it"}`,
    );
  }
  const { reports: others } = await loadSkills({ ...options, workingDirectory: context.cwd });
  return { ...config, skills, skipped, others };
}

function lookAtConfig(path: string): LookedAtConfig {
  if (!path.endsWith(".json")) return { path, files: findImports(path), keys: [] };
  const { config, digest } = loadJsonConfig(path);
  return { path, files: new Map([[path, digest]]), keys: findGrants(config) };
}

/**
 * Loads the code of skills that a person has just agreed to trust, exactly as it was shown: only then is it known what they are.
 * Answers with what is to be trusted and pinned. What cannot be used is said on standard error, and is trusted all the same.
 */
export async function loadAgreed(looked: LookedAt, context: CliContext): Promise<readonly LookedAtSkill[]> {
  const withCode = looked.skills.filter(({ folder }) => folder.code !== undefined);
  if (withCode.length === 0) return looked.skills;
  const shown = new Map(withCode.map(({ folder }) => [folder.directory, folder.digest]));
  const directories = [...shown.keys()];
  const trust: FolderTrust = ({ directory, digest }) =>
    shown.get(directory) === digest ? { status: "trusted" } : { status: "untrusted", changed: [] };
  const { loadSkills } = await import("../../workspace/skills/folder-skills.ts");
  // What is agreed to now is pinned anew: the old pins do not count.
  const { lock: _, ...options } = toLoadOptions(context, directories);
  const { reports } = await loadSkills({ ...options, trust, directories });
  return looked.skills.map((one) => {
    const report = reports.find(({ directory }) => directory === one.folder.directory);
    if (report === undefined) return one;
    if (report.skill === undefined) {
      context.terminal.note(`${toPrintable(`${toShownPath(report.path, context.cwd)}: ${whySkipped(report)}`)}\n`);
      return { ...one, diagnostics: [...one.diagnostics, ...report.diagnostics] };
    }
    return report.skill.folder?.trust.status === "trusted" ? { ...one, skill: report.skill } : one;
  });
}
