import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  readlinkSync,
  realpathSync,
  type Dirent,
} from "node:fs";
import { join } from "node:path";

import { toMark, type Mark } from "./folder-marks.ts";
import { hasDescriptorPaths, readRegularFile, type FileReading, type ReadOptions } from "./read-file.ts";

/**
 * A folder that is held open: what is listed and read through it is in it, whatever is put at its path meanwhile. Where a system
 * cannot hold a folder open, its path is used and looked at again after each step.
 */
export interface OpenFolder {
  /** With links resolved. */
  readonly path: string;
  /** Changes when something is put into it or taken out. Throws what the system says, as the next one does. */
  mark(): Mark;
  /** Sorted by name. */
  list(): Dirent[];
  /** Opens a folder in this one, not through a link. Throws what the system says. */
  openFolder(name: string): OpenFolder;
  readFile(name: string, options: ReadOptions): FileReading;
  /** A path that leads to what is in this folder now. */
  pathOf(name: string): string;
  close(): void;
}

/** Opens a folder, through links if there are any on the way to it. Throws what the system says. */
export function openFolder(path: string): OpenFolder {
  return hasDescriptorPaths ? openHeld(path, folderFlags) : openByPath(realpathSync.native(path));
}

const folderFlags = constants.O_RDONLY | (constants.O_DIRECTORY ?? 0);

function openHeld(way: string, flags: number): OpenFolder {
  const descriptor = openSync(way, flags);
  const held = `/proc/self/fd/${descriptor}`;
  const pathOf = (name: string): string => `${held}/${name}`;
  return {
    get path() {
      return readlinkSync(held);
    },
    mark: () => toMark(fstatSync(descriptor)),
    list: () => listFolder(held),
    openFolder: (name) => openHeld(pathOf(name), folderFlags | constants.O_NOFOLLOW),
    readFile: (name, options) => readRegularFile(pathOf(name), options),
    pathOf,
    close: () => closeSync(descriptor),
  };
}

function openByPath(path: string): OpenFolder {
  const pathOf = (name: string): string => join(path, name);
  return {
    path,
    mark: () => toMark(lstatSync(path)),
    list: () => listFolder(path),
    openFolder: (name) => openByPath(pathOf(name)),
    readFile: (name, options) => readRegularFile(pathOf(name), { ...options, mustBe: pathOf(name) }),
    pathOf,
    close() {},
  };
}

function listFolder(path: string): Dirent[] {
  return readdirSync(path, { withFileTypes: true }).toSorted((left, right) => (left.name < right.name ? -1 : 1));
}
