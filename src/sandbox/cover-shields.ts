import { lstatSync, mkdirSync, statSync } from "node:fs";
import { dirname, join, relative } from "node:path";

import { isBelow } from "./find-link-out.ts";
import { isInside, toRealPath } from "../platform/paths.ts";
import { isRoot } from "./host.ts";
import { emptyFile, nothing, type Mount } from "./sandbox.ts";
import { findShields, type FoundShields, type Reserved, type Shield, type ShieldedPlaces } from "./shields.ts";

/** The paths that permissions name, with links resolved: what is shielded is opened only by its own. */
export interface Opened {
  readonly read: ReadonlySet<string>;
  readonly write: ReadonlySet<string>;
}

/** Mounts with their shields, and what could not be covered. */
export interface Covered {
  readonly mounts: readonly Mount[];
  readonly reserved: readonly Reserved[];
  /** The folders that were looked through, each with its mark. */
  readonly folders: ReadonlyMap<string, string>;
}

/**
 * Adds to what was granted what keeps a tool off shielded files below it: what is hidden is covered with nothing, the rest is mounted
 * once more, so that it can only be read. A folder on the way to a shield is a mount of its own, so that no tool can move it away and
 * put another in its place. Named pipes are covered where nothing may be written.
 */
export function coverShields(given: readonly Mount[], opened: Opened, places: ShieldedPlaces): Covered {
  for (const place of (places.protected ?? []).map(toRealPath)) {
    // What is not there yet could be made by the tool.
    if (given.some(({ source, write }) => write === true && isBelow(place, source))) {
      mkdirSync(place, { recursive: true, mode: 0o700 });
    }
  }
  const covers = given.map((mount) => coverOne(mount, opened, places));
  const shields = new Map(covers.flatMap(({ mounts }) => mounts).map((mount) => [mount.target, mount]));
  const kept = given.filter((mount) => isNeeded(mount, given, [...shields.keys()]));
  const reserved = new Map(covers.flatMap((cover) => cover.reserved).map((place) => [place.path, place]));
  const folders = new Map(covers.flatMap((cover) => [...cover.folders]));
  return { mounts: [...kept, ...shields.values()], reserved: [...reserved.values()], folders };
}

/**
 * Who may write a folder may use all that is below, so nothing below is mounted on its own, unless it is behind a shield: a tool could
 * put a link in its place, and have what that leads to mounted by the next call.
 */
function isNeeded({ target }: Mount, given: readonly Mount[], shields: readonly string[]): boolean {
  return given
    .filter((other) => other.write === true && isBelow(target, other.target))
    .every((other) => shields.some((shield) => isBelow(shield, other.target) && isBelow(target, shield)));
}

function coverOne(mount: Mount, opened: Opened, places: ShieldedPlaces): Covered {
  const { source, target, write } = mount;
  // One that is gone by now is refused when it is mounted.
  if (statSync(source, { throwIfNoEntry: false })?.isDirectory() !== true)
    return { mounts: [], reserved: [], folders: new Map() };
  const found = findShields(source, places, (path) => opened.write.has(path));
  const named = openShields(found, opened).filter(({ hidden }) => hidden || write === true);
  const shields = dropNested([...named, ...closePipes(found, named, opened)]);
  const toPlace = (path: string): string => join(target, relative(source, path));
  const fixed = shields.filter(({ hidden }) => !hidden).map(({ path }) => path);
  const covers = shields
    .filter(({ hidden }) => hidden)
    .map(({ path }) => (isLockedAway(path, fixed) ? dirname(path) : path))
    .map((path) => ({
      source: statSync(path).isDirectory() ? nothing : emptyFile,
      target: toPlace(path),
      shields: path,
    }));
  const readOnly = fixed.map((path) => ({ source: path, target: toPlace(path), shields: path }));
  const { folders } = found;
  if (write !== true) return { mounts: covers, reserved: [], folders };
  const isCovered = (path: string): boolean => shields.some((shield) => isInside(path, shield.path));
  const reserved = found.reserved.filter(({ path }) => !isCovered(path) && !opened.write.has(path));
  const pins = findPins(source, [...shields, ...reserved]).filter((path) => !isCovered(path));
  const pinned = pins.map((path) => ({
    source: path,
    target: toPlace(path),
    granted: true,
    write: true,
    shields: path,
  }));
  return { mounts: [...pinned, ...readOnly, ...covers], reserved, folders };
}

/** Who names exactly this path for writing opens it; for reading, only that. */
function openShields({ shields }: FoundShields, { read, write }: Opened): Shield[] {
  return shields
    .filter(({ path, own }) => own || !write.has(path))
    .map((shield) => ({ ...shield, hidden: shield.hidden && (shield.own || !read.has(shield.path)) }));
}

/** The pipes that are not in a folder to write, or are behind a shield in it. */
function closePipes({ pipes }: FoundShields, shields: readonly Shield[], { write }: Opened): Shield[] {
  const isShielded = (pipe: string, folder: string): boolean =>
    shields.some(({ path }) => isInside(pipe, path) && isBelow(path, folder));
  return pipes
    .filter((pipe) => ![...write].some((folder) => isInside(pipe, folder) && !isShielded(pipe, folder)))
    .map((path) => ({ path, hidden: true, own: false }));
}

/** What is below something hidden is hidden, and what is below something that cannot be changed cannot be either. */
function dropNested(shields: readonly Shield[]): Shield[] {
  return shields.filter(
    ({ path, hidden }) => !shields.some((other) => isBelow(path, other.path) && (other.hidden || !hidden)),
  );
}

/** The folders between what was granted and what must stay at its place. */
function findPins(root: string, places: readonly { readonly path: string }[]): string[] {
  const pins = new Set<string>();
  for (const { path } of places) {
    for (let folder = dirname(path); isBelow(folder, root); folder = dirname(folder)) pins.add(folder);
  }
  return [...pins].filter((path) => lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true);
}

/**
 * Whether a file is fixed in a directory that only root may pass. Whom programs run as could not cover a single file in it, so all
 * of it is hidden.
 */
function isLockedAway(path: string, fixed: readonly string[]): boolean {
  return isRoot && fixed.some((place) => isBelow(path, place)) && (statSync(dirname(path)).mode & 0o001) === 0;
}
