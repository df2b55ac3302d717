import { linkSync, readlinkSync, renameSync, symlinkSync } from "node:fs";

import { WasiError } from "./errno.ts";
import type { Guest } from "./guest.ts";
import type { Paths } from "./paths.ts";
import type { WasiFunctions } from "./wasi-function.ts";

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
      // Whoever has another name for a file can write it under that name: so both places must be writable.
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
