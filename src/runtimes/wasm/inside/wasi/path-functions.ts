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
import { walk, type Place } from "./walk.ts";
import type { WasiFunctions } from "./wasi-function.ts";

const followFlag = 1;

/** Everything with a path. See {@link walk} for why a path cannot leave the directory that it begins at. */
export function pathFunctions(guest: Guest, descriptors: Descriptors): WasiFunctions {
  const find = (fd: number, path: string, flags = 0): Place =>
    walk(descriptors.directory(fd), path, (flags & followFlag) !== 0);

  /** Does something to what a path leads to, which must be where the module may write. */
  function change(fd: number, path: string, act: (place: string) => void): void {
    use(find(fd, path), ({ path: place, access }) => {
      if (access !== "write") throw new WasiError("rofs");
      act(place);
    });
  }

  return {
    path_create_directory: (fd: number, pointer: number, length: number) =>
      change(fd, withoutSlash(guest.text(pointer, length)), (place) => mkdirSync(place)),
    path_remove_directory: (fd: number, pointer: number, length: number) =>
      change(fd, withoutSlash(guest.text(pointer, length)), (place) => rmdirSync(place)),
    path_unlink_file: (fd: number, pointer: number, length: number) =>
      change(fd, guest.text(pointer, length), (place) => unlinkSync(place)),
    // oxlint-disable-next-line max-params -- as WASI has it
    path_filestat_get: (fd: number, flags: number, pointer: number, length: number, result: number) =>
      use(find(fd, guest.text(pointer, length), flags), ({ path }) =>
        writeStat(guest, result, lstatSync(path, { bigint: true })),
      ),
    // oxlint-disable-next-line max-params -- as WASI has it
    path_filestat_set_times: (
      fd: number,
      flags: number,
      pointer: number,
      length: number,
      access: bigint,
      changed: bigint,
      timeFlags: number,
    ) =>
      use(find(fd, guest.text(pointer, length), flags), (place) => {
        if (place.access !== "write") throw new WasiError("rofs");
        const wanted = { access, change: changed, flags: timeFlags };
        lutimesSync(place.path, ...toTimes(lstatSync(place.path, { bigint: true }), wanted));
      }),
    // oxlint-disable-next-line max-params -- as WASI has it
    path_readlink: (fd: number, pointer: number, length: number, to: number, room: number, result: number) =>
      use(find(fd, guest.text(pointer, length)), ({ path }) => {
        const target = Buffer.from(readlinkSync(path)).subarray(0, room >>> 0);
        guest.setBytes(to, target);
        guest.set32(result, target.length);
      }),
    // oxlint-disable-next-line max-params -- as WASI has it
    path_rename: (fd: number, from: number, fromLength: number, toFd: number, to: number, toLength: number) =>
      change(fd, withoutSlash(guest.text(from, fromLength)), (source) =>
        change(toFd, withoutSlash(guest.text(to, toLength)), (target) => renameSync(source, target)),
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
      // Whoever has another name for a file can write it under that name: so both places must be writable.
      change(fd, guest.text(from, fromLength), (source) =>
        change(toFd, guest.text(to, toLength), (target) => linkSync(source, target)),
      ),
    // oxlint-disable-next-line max-params -- as WASI has it
    path_symlink: (from: number, fromLength: number, fd: number, to: number, toLength: number) => {
      const target = guest.text(from, fromLength);
      checkLinkTarget(target);
      change(fd, guest.text(to, toLength), (place) => symlinkSync(target, place));
    },
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
      use(find(fd, guest.text(pointer, length), flags), (place) => {
        // A place that cannot take the number is noticed before anything is opened for it.
        guest.set32(result, 0);
        guest.set32(result, descriptors.add(openPlace(place, { openFlags, rights: BigInt(rights), state })));
      }),
  };
}

function use(place: Place, act: (place: Place) => void): void {
  try {
    act(place);
  } finally {
    place.close();
  }
}

function withoutSlash(path: string): string {
  return path.replace(/\/+$/u, "");
}

/**
 * We follow no link out of a directory, but others might who read it afterwards. One that only goes down stays inside, wherever it
 * is moved.
 */
function checkLinkTarget(target: string): void {
  if (target.startsWith("/") || target.split("/").includes("..")) throw new WasiError("notcapable");
}
