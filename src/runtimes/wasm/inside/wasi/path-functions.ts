import {
  linkSync,
  lstatSync,
  lutimesSync,
  mkdirSync,
  readlinkSync,
  renameSync,
  rmdirSync,
  symlinkSync,
  unlinkSync,
} from "node:fs";

import type { Descriptors } from "./descriptors.ts";
import { WasiError } from "./errno.ts";
import type { Guest } from "./guest.ts";
import { openPlace } from "./open-place.ts";
import { toTimes, writeStat } from "./stat-record.ts";
import { type Place, walk } from "./walk.ts";
import type { WasiFunctions } from "./wasi-names.ts";

/** Files and directories by path. A path cannot leave the directory that it begins at; `walk` says why. */
export function pathFunctions(guest: Guest, descriptors: Descriptors, paths: Paths): WasiFunctions {
  return {
    path_create_directory: (fd: number, pointer: number, length: number) =>
      paths.change([fd, pointer, length], (place) => mkdirSync(place)),
    path_remove_directory: (fd: number, pointer: number, length: number) =>
      paths.change([fd, pointer, length], (place) => rmdirSync(place)),
    path_unlink_file: (fd: number, pointer: number, length: number) =>
      paths.change([fd, pointer, length], (place) => unlinkSync(place)),
    // oxlint-disable-next-line max-params -- as WASI has it
    path_filestat_get: (fd: number, flags: number, pointer: number, length: number, result: number) =>
      paths.use([fd, pointer, length], flags, ({ path }) =>
        writeStat(guest, result, lstatSync(path, { bigint: true })),
      ),
    // oxlint-disable-next-line max-params -- as WASI has it
    path_filestat_set_times: (
      fd: number,
      flags: number,
      pointer: number,
      length: number,
      access: bigint,
      change: bigint,
      timeFlags: number,
    ) =>
      paths.use([fd, pointer, length], flags, (place) => {
        const path = checkWritable(place);
        lutimesSync(path, ...toTimes(lstatSync(path, { bigint: true }), { access, change, flags: timeFlags }));
      }),
    // oxlint-disable-next-line max-params -- as WASI has it
    path_open: (
      fd: number,
      flags: number,
      pointer: number,
      length: number,
      openFlags: number,
      rights: bigint,
      _inherited: bigint,
      state: number,
      result: number,
    ) =>
      paths.use([fd, pointer, length], flags, (place) => {
        // A place that cannot take the number is noticed before anything is opened for it.
        guest.set32(result, 0);
        guest.set32(result, descriptors.add(openPlace(place, { openFlags, rights: BigInt(rights), state })));
      }),
  };
}

/** Names for what there is already: moved, linked and symbolic ones. */
export function linkFunctions(guest: Guest, paths: Paths): WasiFunctions {
  return {
    // oxlint-disable-next-line max-params -- as WASI has it
    path_readlink: (fd: number, pointer: number, length: number, to: number, room: number, result: number) =>
      paths.use([fd, pointer, length], 0, ({ path }) => {
        const target = Buffer.from(readlinkSync(path)).subarray(0, room >>> 0);
        guest.setBytes(to, target);
        guest.set32(result, target.length);
      }),
    // oxlint-disable-next-line max-params -- as WASI has it
    path_rename: (fd: number, from: number, fromLength: number, toFd: number, to: number, toLength: number) =>
      paths.change([fd, from, fromLength], (source) =>
        paths.change([toFd, to, toLength], (target) => renameSync(source, target)),
      ),
    // oxlint-disable-next-line max-params -- as WASI has it
    path_link: (
      fd: number,
      _flags: number,
      from: number,
      fromLength: number,
      toFd: number,
      to: number,
      toLength: number,
    ) =>
      // A file can be written under each of its names: so both places must be writable.
      paths.change([fd, from, fromLength], (source) =>
        paths.change([toFd, to, toLength], (target) => linkSync(source, target)),
      ),
    // oxlint-disable-next-line max-params -- as WASI has it
    path_symlink: (from: number, fromLength: number, fd: number, to: number, toLength: number) => {
      const target = guest.text(from, fromLength);
      checkLinkTarget(target);
      paths.change([fd, to, toLength], (place) => symlinkSync(target, place));
    },
  };
}

/**
 * We follow no link out of a directory, but others might who read it afterwards. One that only goes down stays inside, wherever it
 * is moved.
 */
function checkLinkTarget(target: string): void {
  if (target.startsWith("/") || target.split("/").includes("..")) throw new WasiError("notcapable");
}

const followFlag = 1;

/** A path as a module gives it: the directory it begins at, and where its text is. */
type PathArguments = readonly [fd: number, pointer: number, length: number];

/** What paths of a module lead to. */
interface Paths {
  text(pointer: number, length: number): string;
  /** Does something with what a path leads to. */
  use(path: PathArguments, flags: number, act: (place: Place) => void): void;
  /** The same where the module may write; a link is not followed, and a slash at the end is left out. */
  change(path: PathArguments, act: (place: string) => void): void;
}

/** Makes what functions with paths share. */
export function createPaths(guest: Guest, descriptors: Descriptors): Paths {
  function find([fd, pointer, length]: PathArguments, flags: number): Place {
    return walk(descriptors.directory(fd), guest.text(pointer, length), (flags & followFlag) !== 0);
  }

  return {
    text: guest.text,
    use: (path, flags, act) => withPlace(find(path, flags), act),
    change([fd, pointer, length], act) {
      const path = guest.text(pointer, length).replace(/\/+$/u, "");
      withPlace(walk(descriptors.directory(fd), path, false), (place) => act(checkWritable(place)));
    },
  };
}

/** The path of a place that the module may write. */
function checkWritable({ access, path }: Place): string {
  if (access !== "write") throw new WasiError("rofs");
  return path;
}

function withPlace(place: Place, act: (place: Place) => void): void {
  try {
    act(place);
  } finally {
    place.close();
  }
}
