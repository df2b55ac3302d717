import { existsSync, readFileSync, statSync } from "node:fs";
import { basename, dirname } from "node:path";

import { findSkills, isSkillFolder, projectFolders } from "../../skills/discovery/find-skills.ts";
import { isSkillFile } from "../../skills/discovery/is-skill.ts";
import { isInside, toRealPath } from "../../platform/paths.ts";
import { removedTrust, type TrustList } from "../../skills/trust/trust-format.ts";
import { usageError } from "../usage-error.ts";
import { configNames, findConfigIn, resolveConfig } from "./find-config.ts";
import { findGrants, parseJsonConfig } from "./to-workspace-options.ts";

/** What somebody named to be trusted. */
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
