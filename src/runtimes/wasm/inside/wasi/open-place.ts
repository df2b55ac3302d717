import { closeSync, constants, fstatSync, lstatSync, openSync } from "node:fs";

import type { OpenDirectory, OpenFile } from "./descriptors.ts";
import { WasiError } from "./errno.ts";
import { directoryFlags, type Place } from "./walk.ts";

/** How a module wants something opened, in WASI's numbers. */
export interface Opening {
  readonly openFlags: number;
  readonly rights: bigint;
  readonly state: number;
}

const create = 1;
const directory = 2;
const exclusive = 4;
const truncate = 8;
const append = 1;
const readRight = 1n << 1n;
/** To write, to allocate, to set the size. */
const writeRights = (1n << 6n) | (1n << 8n) | (1n << 22n);

/** Opens a file or a directory. Never a link, a device, a pipe or a socket. */
export function openPlace(place: Place, opening: Opening): OpenFile | OpenDirectory {
  const { openFlags } = opening;
  const has = (flag: number): boolean => (openFlags & flag) !== 0;
  const found = lstatSync(place.path, { throwIfNoEntry: false });
  if (found?.isDirectory() === true) {
    if (has(create) && has(exclusive)) throw new WasiError("exist");
    if (has(truncate)) throw new WasiError("isdir");
    return openDirectory(place);
  }
  if (has(directory)) throw new WasiError(found === undefined ? "noent" : "notdir");
  if (found?.isSymbolicLink() === true) throw new WasiError(has(exclusive) ? "exist" : "loop");
  return openFile(place, opening);
}

function openDirectory({ path, access, only }: Place): OpenDirectory {
  const handle = openSync(path, directoryFlags);
  return { kind: "directory", handle, only, ...(access !== undefined && { access }) };
}

function openFile({ path, access }: Place, { openFlags, rights, state }: Opening): OpenFile {
  const writable = (rights & writeRights) !== 0n;
  const readable = (rights & readRight) !== 0n || !writable;
  const changes = writable || (openFlags & (create | truncate)) !== 0;
  if (changes && access !== "write") {
    // A module that would create it if it were not there can still read it.
    const onlyCreates = !writable && (openFlags & (truncate | exclusive)) === 0;
    if (!onlyCreates) throw new WasiError("rofs");
  }
  const handle = openSync(path, toFlags(openFlags, { readable, writable, state, access }), 0o644);
  try {
    // One that was put there since we looked, or that is no file at all, is not read and not written.
    if (!fstatSync(handle).isFile()) throw new WasiError("acces");
  } catch (cause) {
    closeSync(handle);
    throw cause;
  }
  return { kind: "file", handle, readable, writable, append: (state & append) !== 0, position: 0 };
}

interface Access {
  readonly readable: boolean;
  readonly writable: boolean;
  readonly state: number;
  readonly access: Place["access"];
}

function toFlags(openFlags: number, { readable, writable, state, access }: Access): number {
  // Truncating needs the right to write, whether the module asked for it or not.
  const writes = writable || (openFlags & truncate) !== 0;
  let flags = constants.O_NOFOLLOW | constants.O_NONBLOCK;
  if (writes) flags |= readable ? constants.O_RDWR : constants.O_WRONLY;
  if ((openFlags & create) !== 0 && access === "write") flags |= constants.O_CREAT;
  if ((openFlags & exclusive) !== 0) flags |= constants.O_EXCL;
  if ((openFlags & truncate) !== 0) flags |= constants.O_TRUNC;
  if ((state & append) !== 0) flags |= constants.O_APPEND;
  return flags;
}
