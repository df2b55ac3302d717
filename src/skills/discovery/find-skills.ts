import { lstatSync, readdirSync, realpathSync, statSync, type Dirent, type Stats } from "node:fs";
import { basename, dirname, join } from "node:path";

import type { Diagnostic } from "../../core/diagnostics.ts";
import type { SkillScope } from "../../core/skill.ts";
import { shieldSkills } from "../../sandbox/shields.ts";
import { isIgnoredFolder } from "../folder/ignored-names.ts";
import { messageOf } from "../../platform/read-file.ts";
import { showPath } from "../../platform/paths.ts";
import { isSkill, isSkillFile } from "./is-skill.ts";
import { type SkillRank, toRank } from "./skill-rank.ts";

/** The folder of `.kitbag` with earlier versions of a project's skills. */
export const skillVersionsFolder = "skill-versions";

/** A folder that holds a skill. */
export interface SkillLocation {
  /** As it was found. */
  readonly path: string;
  /** With symbolic links resolved. */
  readonly directory: string;
  readonly scope: SkillScope;
  /** The plugin it is a part of. */
  readonly plugin?: string;
  /** Of two skills of one name, the one with the lower rank is used. See {@link compareRanks}. */
  readonly rank: SkillRank;
}

/** Where to look for skills. */
export interface FindOptions {
  /** Folders that the user named: each a skill, or a folder with skills somewhere below. They go before all others. */
  readonly directories?: readonly string[];
  /** Where the project's folders are looked for, upwards to the root of its repository. @default nowhere */
  readonly workingDirectory?: string;
  /** Where the user's folders are looked for. @default nowhere */
  readonly homeDirectory?: string;
}

/** What was found, in the order of precedence, and what was left out. */
export interface FoundSkills {
  readonly locations: readonly SkillLocation[];
  readonly diagnostics: readonly Diagnostic[];
}

/** The folders that hold skills, in a project and in the home directory. */
const skillFolders = [".kitbag/skills", ".agents/skills", ".claude/skills"];

/** How deep below a folder that was named skills are looked for, and in how many folders. */
export const searchLimits = { depth: 12, folders: 50_000 };

/**
 * Finds the folders that hold skills: those that were named, then the project's, then the user's. Reads no file but those whose
 * names alone do not say what they are. `isKnown` tells of a folder, with links resolved, that it is a skill and nothing else: it
 * is not looked at again.
 *
 * No tool may change these folders from then on.
 *
 * Contract: never throws for what is on the disk, follows links between folders without going in circles, ends.
 */
export function findSkills(options: FindOptions, isKnown: (directory: string) => boolean = () => false): FoundSkills {
  const search: Search = { locations: [], diagnostics: [], seen: new Set(), links: [], roots: 0, folders: 0, isKnown };
  for (const directory of options.directories ?? []) searchGiven(search, directory);
  for (const folder of projectFolders(options.workingDirectory, options.homeDirectory))
    searchRoot(search, folder, "project");
  for (const folder of homeFolders(options.homeDirectory)) searchRoot(search, folder, "user");
  return { locations: search.locations, diagnostics: search.diagnostics };
}

interface Search {
  readonly locations: SkillLocation[];
  readonly diagnostics: Diagnostic[];
  /** Real paths: two links to one folder are one skill. */
  readonly seen: Set<string>;
  /** Links of the root that is searched. They are followed after everything that is really there. */
  readonly links: Place[];
  roots: number;
  folders: number;
  isKnown(directory: string): boolean;
}

interface Place {
  readonly path: string;
  /** The same with links resolved, if that is known. */
  readonly directory?: string;
  readonly scope: SkillScope;
  /** The folders between the root and this one. */
  readonly steps: readonly string[];
  readonly plugin?: string;
}

function searchGiven(search: Search, directory: string): void {
  const isFolder = statusOf(statSync, directory)?.isDirectory() === true;
  // The user may name the file instead of its folder.
  const path = !isFolder && isSkillFile(basename(directory)) ? dirname(directory) : directory;
  if (!isFolder && path === directory) {
    const message = `Cannot find skills in ${showPath(directory)}: there is no such folder`;
    search.diagnostics.push({ severity: "error", code: "folder-missing", message, file: directory });
    return;
  }
  searchRoot(search, path, "given");
}

function searchRoot(search: Search, path: string, scope: SkillScope): void {
  search.roots += 1;
  searchFolder(search, { path, scope, steps: [] });
  for (let link = search.links.shift(); link !== undefined; link = search.links.shift()) searchFolder(search, link);
}

/**
 * The project's folders, the nearest first, up to the folder that holds `.git`; without one only where we are. Those of the home
 * directory are the user's, also if it is a repository itself.
 */
export function projectFolders(start: string | undefined, home?: string): string[] {
  if (start === undefined) return [];
  const realHome = home === undefined ? undefined : realPath(home);
  return findProject(start)
    .filter((folder) => realHome === undefined || realPath(folder) !== realHome)
    .flatMap((folder) => skillFolders.map((name) => join(folder, name)));
}

function findProject(start: string): string[] {
  const ancestors = [start];
  for (let folder = start; !hasGit(folder);) {
    const parent = dirname(folder);
    if (parent === folder) return [start];
    ancestors.push(parent);
    folder = parent;
  }
  return ancestors;
}

/** The user's folders. */
export function homeFolders(home: string | undefined): string[] {
  return home === undefined ? [] : skillFolders.map((name) => join(home, name));
}

function hasGit(folder: string): boolean {
  return statusOf(lstatSync, join(folder, ".git")) !== undefined;
}

/** A path that cannot be read, for whatever reason, counts as missing. */
function statusOf(look: (path: string) => Stats, path: string): Stats | undefined {
  try {
    return look(path);
  } catch {
    return undefined;
  }
}

function searchFolder(search: Search, place: Place): void {
  const directory = place.directory ?? realPath(place.path);
  if (directory === undefined || search.seen.has(directory) || isTooMuch(search, place)) return;
  search.seen.add(directory);
  // Another skill in it would be loaded, too.
  if (place.steps.length === 0) shieldSkills(directory);
  search.folders += 1;
  if (search.isKnown(directory)) return addSkill(search, { ...place, directory });
  const items = listFolder(search, place.path, directory);
  if (items.some((item) => item.name === ".claude-plugin" || item.name === ".codex-plugin"))
    return searchPlugin(search, { ...place, directory }, items);
  if (isSkill(directory, items)) return addSkill(search, { ...place, directory });
  searchInside(search, { ...place, directory }, items);
}

type OpenPlace = Place & { readonly directory: string };

function addSkill(search: Search, { path, directory, scope, plugin, steps }: OpenPlace): void {
  shieldSkills(directory);
  const rank = toRank(search.roots, steps);
  search.locations.push({ path, directory, scope, rank, ...(plugin !== undefined && { plugin }) });
}

function searchInside(search: Search, { directory, ...place }: OpenPlace, items: readonly Dirent[]): void {
  for (const item of items) {
    if (isIgnoredFolder(item.name) && item.name !== ".kitbag") continue;
    if (!item.isDirectory() && !item.isSymbolicLink()) continue;
    if (keptFolders.has(item.name) && basename(directory) === ".kitbag") continue;
    const inside = { ...place, path: join(place.path, item.name), steps: [...place.steps, item.name] };
    if (item.isDirectory()) searchFolder(search, { ...inside, directory: join(directory, item.name) });
    else search.links.push(inside);
  }
}

/** Folders of `.kitbag` with what is not used any more, but can be put back. */
export const keptFolders: ReadonlySet<string> = new Set(["previous", "removed", skillVersionsFolder]);

/** Tells whether a folder is a skill itself, rather than a folder of skills. */
export function isSkillFolder(path: string): boolean {
  try {
    return isSkill(path, readdirSync(path, { withFileTypes: true }));
  } catch {
    return false;
  }
}

/** A plugin's skills are in its folder `skills`; with a SKILL.md of its own it is one skill itself. */
function searchPlugin(search: Search, place: OpenPlace, items: readonly Dirent[]): void {
  const plugin = basename(place.directory);
  if (items.some((item) => /^skill\.md$/iu.test(item.name))) addSkill(search, { ...place, plugin });
  searchInside(search, { ...place, plugin }, items);
}

function isTooMuch(search: Search, place: Place): boolean {
  if (place.steps.length > searchLimits.depth) return true;
  if (search.folders < searchLimits.folders) return false;
  if (!search.diagnostics.some((one) => one.code === "folders-many")) {
    const message = `Stopped looking after ${searchLimits.folders} folders: name the folders that hold skills instead`;
    search.diagnostics.push({ severity: "warning", code: "folders-many", message, file: place.path });
  }
  return true;
}

function realPath(path: string): string | undefined {
  try {
    const real = realpathSync.native(path);
    return statSync(real).isDirectory() ? real : undefined;
  } catch {
    return undefined;
  }
}

function listFolder(search: Search, path: string, directory: string): Dirent[] {
  try {
    const items = readdirSync(directory, { withFileTypes: true });
    return items.toSorted((left, right) => (left.name < right.name ? -1 : 1));
  } catch (cause) {
    const message = `Left out ${showPath(path)}: ${messageOf(cause)}`;
    search.diagnostics.push({ severity: "warning", code: "folder-unreadable", message, file: path });
    return [];
  }
}
