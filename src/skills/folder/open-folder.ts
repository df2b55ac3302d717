import { closeSync, constants, openSync, readdirSync, readlinkSync, type Dirent } from "node:fs";
import { join } from "node:path";

import { hasDescriptorPaths, readRegularFile, type FileReading } from "./read-file.ts";

/**
 * A folder that is held open: what is listed and read through it is in it, whatever is put at its path meanwhile. Where a system
 * cannot hold a folder open, its path is used and looked at again after each step.
 */
export interface OpenFolder {
  /** With links resolved. */
  readonly path: string;
  /** Sorted by name. */
  list(): Dirent[];
  /** Opens a folder in this one, not through a link. Throws what the system says. */
  openFolder(name: string): OpenFolder;
  readFile(name: string, maxBytes: number): FileReading;
  /** A path that leads to what is in this folder now. */
  pathOf(name: string): string;
  close(): void;
}

/** Opens a folder by its real path. Throws what the system says. */
export function openFolder(path: string): OpenFolder {
  return hasDescriptorPaths ? openHeld(path) : openByPath(path);
}

const folderFlags = constants.O_RDONLY | (constants.O_DIRECTORY ?? 0) | (constants.O_NOFOLLOW ?? 0);

function openHeld(way: string): OpenFolder {
  const descriptor = openSync(way, folderFlags);
  const held = `/proc/self/fd/${descriptor}`;
  const pathOf = (name: string): string => `${held}/${name}`;
  return {
    get path() {
      return readlinkSync(held);
    },
    list: () => listFolder(held),
    openFolder: (name) => openHeld(pathOf(name)),
    readFile: (name, maxBytes) => readRegularFile(pathOf(name), maxBytes),
    pathOf,
    close: () => closeSync(descriptor),
  };
}

function openByPath(path: string): OpenFolder {
  const pathOf = (name: string): string => join(path, name);
  return {
    path,
    list: () => listFolder(path),
    openFolder: (name) => openByPath(pathOf(name)),
    readFile: (name, maxBytes) => readRegularFile(pathOf(name), maxBytes, pathOf(name)),
    pathOf,
    close() {},
  };
}

function listFolder(path: string): Dirent[] {
  return readdirSync(path, { withFileTypes: true }).toSorted((left, right) => (left.name < right.name ? -1 : 1));
}
