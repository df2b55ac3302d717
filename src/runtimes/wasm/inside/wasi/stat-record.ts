import type { BigIntStats, Dirent } from "node:fs";

import { WasiError } from "./errno.ts";
import type { Guest } from "./guest.ts";

/** What kind of thing something is, in WASI's numbers. */
export const fileTypes = { unknown: 0, directory: 3, file: 4, link: 7 } as const;

/** The kind of what was found; what is neither file nor directory nor link stays unknown, because it cannot be opened here. */
export function toFileType(found: BigIntStats | Dirent): number {
  if (found.isFile()) return fileTypes.file;
  if (found.isDirectory()) return fileTypes.directory;
  return found.isSymbolicLink() ? fileTypes.link : fileTypes.unknown;
}

/** Writes what is known about a file where a module wants it. */
export function writeStat(guest: Guest, place: number, stats: BigIntStats): void {
  guest.setBytes(place, new Uint8Array(64));
  guest.set64(place, stats.dev);
  guest.set64(place + 8, stats.ino);
  guest.view().setUint8(place + 16, toFileType(stats));
  guest.set64(place + 24, stats.nlink);
  guest.set64(place + 32, stats.size);
  guest.set64(place + 40, stats.atimeNs);
  guest.set64(place + 48, stats.mtimeNs);
  guest.set64(place + 56, stats.ctimeNs);
}

const setAccess = 1;
const setAccessNow = 2;
const setChange = 4;
const setChangeNow = 8;

/** The two times that a module wants a file to have, in seconds; one that it does not name stays. */
export function toTimes(
  { atimeNs, mtimeNs }: BigIntStats,
  wanted: { readonly access: bigint; readonly change: bigint; readonly flags: number },
): readonly [access: number, change: number] {
  const pick = (old: bigint, given: bigint, [set, setNow]: readonly [number, number]): number => {
    if ((wanted.flags & set) !== 0 && (wanted.flags & setNow) !== 0) throw new WasiError("inval");
    if ((wanted.flags & setNow) !== 0) return Date.now() / 1000;
    return Number((wanted.flags & set) === 0 ? old : BigInt(given)) / 1e9;
  };
  return [
    pick(atimeNs, wanted.access, [setAccess, setAccessNow]),
    pick(mtimeNs, wanted.change, [setChange, setChangeNow]),
  ];
}
