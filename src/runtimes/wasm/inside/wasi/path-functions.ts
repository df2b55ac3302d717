import { lstatSync, lutimesSync, mkdirSync, rmdirSync, unlinkSync } from "node:fs";

import type { Descriptors } from "./descriptors.ts";
import type { Guest } from "./guest.ts";
import { openPlace } from "./open-place.ts";
import { checkWritable, type Paths } from "./paths.ts";
import { toTimes, writeStat } from "./stat-record.ts";
import type { WasiFunctions } from "./wasi-function.ts";

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
