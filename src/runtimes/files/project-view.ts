import { lstatSync, opendirSync, readlinkSync, type Dir } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";

import { isInside, toRealPath } from "../../platform/paths.ts";
import { hasOwnPlaceIn, isNeverGiven } from "../../sandbox/grants.ts";
import type { Mount, Profile } from "../../sandbox/sandbox.ts";

/**
 * A project as a script sees it that may read parts of it: its working directory is the private folder of the call, at the path of the
 * project, and what it may read is mounted there. So relative and absolute names lead to what was granted, and new files are private.
 */
export interface ProjectView {
  /** The profile with these mounts. */
  readonly profile: Profile;
  /** The links of the project that the private folder must have, too: where they lead, by their places. */
  readonly links: ReadonlyMap<string, string>;
  /** Whether a place of the private folder is taken: something is mounted there or above, or a link is there. */
  isTaken(place: string): boolean;
}

/** The maximum number of files and folders that are mounted one by one. Each costs time when a sandbox starts. */
const mostParts = 100;

/**
 * Makes the view of a project. The folders that hold the `named` files are private, too: a script may write next to what it reads.
 * Answers with nothing if the script may write the project itself, or if the project has too many entries to mount each of them.
 */
export function viewProject(profile: Profile, named: readonly string[]): ProjectView | undefined {
  const { directory: project = "/tmp" } = profile;
  if (isNeverGiven("write", project) || hasOwnPlaceIn(project)) return undefined;
  const links = new Map<string, string>();
  const opened = new Set<string>();
  let { mounts } = profile;
  let left = mostParts;
  const isWhole = mounts.some(({ target }) => isInside(project, target));
  if (!isWhole) opened.add(project);
  for (const folder of [...(isWhole ? [project] : []), ...findFoldersOf(named, project)]) {
    const isReachable = folder === project || opened.has(dirname(folder));
    const parts = isReachable ? openFolder(mounts, folder, left) : undefined;
    if (parts === undefined && folder === project) return undefined;
    if (parts === undefined) continue;
    ({ mounts } = parts);
    left -= parts.count;
    opened.add(folder);
    for (const [path, target] of parts.links) links.set(relative(project, path), target);
  }
  opened.delete(project);
  const folders = [...opened].map((folder) => relative(project, folder));
  const taken = new Set([...links.keys(), ...findPlaces(mounts, project)]);
  return {
    profile: { ...profile, mounts, work: { path: project, folders } },
    links,
    isTaken: (place) => [...taken].some((other) => isInside(join("/", place), join("/", other))),
  };
}

const longestName = 4096;

/** Where something is mounted below the project, relative to it. */
function findPlaces(mounts: readonly Mount[], project: string): readonly string[] {
  return mounts
    .filter(({ target }) => target !== project && isInside(target, project))
    .map(({ target }) => relative(project, target));
}

/** The folders of the project that hold named files, outer ones first. */
function findFoldersOf(named: readonly string[], project: string): readonly string[] {
  const found = new Set<string>();
  for (const name of named) {
    if (!name.includes("/") || name.length > longestName) continue;
    const folders: string[] = [];
    let folder = dirname(resolve(project, name));
    for (; folder !== project && isInside(folder, project); folder = dirname(folder)) folders.unshift(folder);
    if (folder === project) for (const each of folders) found.add(each);
  }
  return [...found].toSorted((one, other) => one.length - other.length);
}

interface Parts {
  readonly mounts: readonly Mount[];
  readonly links: ReadonlyMap<string, string>;
  readonly count: number;
}

/** Mounts what is in a folder instead of the folder. Answers with nothing if it stays as it is. */
function openFolder(mounts: readonly Mount[], folder: string, most: number): Parts | undefined {
  const around = mounts.filter(({ target }) => isInside(folder, target));
  const [mount] = around.toSorted((one, other) => other.target.length - one.target.length);
  if (mount?.granted !== true || mount.write === true) return undefined;
  const source = join(mount.source, relative(mount.target, folder));
  const entries = listFolder(source, most);
  if (entries === undefined) return undefined;
  const links = new Map<string, string>();
  const own: Mount[] = [];
  for (const { name, link } of entries) {
    const target = join(folder, name);
    // It is granted on its own, or it is shielded.
    if (mounts.some((other) => other.target === target)) continue;
    if (link !== undefined) links.set(target, link);
    else own.push({ source: join(source, name), target, granted: true, partOf: mount.partOf ?? mount.source });
  }
  return { mounts: [...mounts.filter(({ target }) => target !== folder), ...own], links, count: own.length };
}

/** Something in a folder. */
interface Entry {
  readonly name: string;
  /** Where it leads, if it is a link. */
  readonly link?: string;
}

/** The files, folders and links in a folder that no link leads to; nothing if that cannot be told, or is too much. */
function listFolder(path: string, most: number): readonly Entry[] | undefined {
  const entries: Entry[] = [];
  let folder: Dir | undefined;
  try {
    if (!lstatSync(path).isDirectory() || toRealPath(path) !== path) return undefined;
    folder = opendirSync(path);
    for (let entry = folder.readSync(); entry !== null; entry = folder.readSync()) {
      if (entries.length === most) return undefined;
      const { name } = entry;
      if (entry.isSymbolicLink()) entries.push({ name, link: readlinkSync(join(path, name)) });
      else if (entry.isFile() || entry.isDirectory()) entries.push({ name });
    }
    return entries;
  } catch {
    return undefined;
  } finally {
    folder?.closeSync();
  }
}
