import { fstatSync, lstatSync, readdirSync } from "node:fs";

import type { Descriptor, Descriptors, Entry, OpenDirectory } from "./descriptors.ts";
import { WasiError } from "./errno.ts";
import type { Guest } from "./guest.ts";
import { toOffset } from "./file-functions.ts";
import { fileTypes, toFileType, writeStat } from "./stat-record.ts";
import { accessTo } from "./walk.ts";
import type { WasiFunctions } from "./wasi-names.ts";

const entryBytes = 24;
const allRights = 0x1fff_ffffn;
/** To read, write and wait, but not to seek: that is how libraries tell a stream from a file. */
const streamRights = (1n << 1n) | (1n << 6n) | (1n << 27n);
const appendFlag = 1;

/** Everything about what is open but its contents. */
export function descriptorFunctions(guest: Guest, descriptors: Descriptors): WasiFunctions {
  return {
    fd_advise: (fd: number) => void descriptors.get(fd),
    fd_close: (fd: number) => descriptors.close(fd),
    fd_renumber: (from: number, to: number) => descriptors.move(from, to),
    fd_fdstat_get: (fd: number, result: number) => writeState(guest, result, descriptors.get(fd)),
    fd_fdstat_set_flags: (fd: number, flags: number) => {
      const found = descriptors.get(fd);
      // Nothing here ever blocks, so that flag is granted; how a file is written to is decided when it is opened.
      if (found.kind === "file" && ((flags & appendFlag) !== 0) !== found.append) throw new WasiError("notsup");
    },
    fd_fdstat_set_rights: (fd: number) => void descriptors.get(fd),
    fd_filestat_get: (fd: number, result: number) => {
      const found = descriptors.get(fd);
      if ("handle" in found) writeStat(guest, result, fstatSync(found.handle, { bigint: true }));
      else guest.setBytes(result, new Uint8Array(64));
    },
    fd_prestat_get: (fd: number, result: number) => {
      guest.set32(result, 0);
      guest.set32(result + 4, preopenName(descriptors, fd).length);
    },
    fd_prestat_dir_name: (fd: number, pointer: number, length: number) => {
      const name = preopenName(descriptors, fd);
      if (length >>> 0 < name.length) throw new WasiError("nametoolong");
      guest.setBytes(pointer, name);
    },
    fd_seek: (fd: number, offset: bigint, origin: number, result: number) => {
      const file = descriptors.file(fd);
      const starts = [0, file.position, origin === 2 ? fstatSync(file.handle).size : 0];
      const start = starts[origin];
      if (start === undefined) throw new WasiError("inval");
      file.position = toOffset(BigInt(start) + BigInt(offset));
      guest.set64(result, file.position);
    },
    fd_tell: (fd: number, result: number) => guest.set64(result, descriptors.file(fd).position),
    // oxlint-disable-next-line max-params -- as WASI has it
    fd_readdir: (fd: number, buffer: number, length: number, cookie: bigint, result: number) => {
      const directory = descriptors.directory(fd);
      if (cookie === 0n || directory.listing === undefined) directory.listing = list(directory);
      guest.set32(result, writeEntries(guest.bytes(buffer, length), directory.listing, toOffset(cookie)));
    },
  };
}

function preopenName(descriptors: Descriptors, fd: number): Uint8Array {
  const found = descriptors.get(fd);
  if (found.kind !== "directory" || found.preopen === undefined) throw new WasiError("badf");
  return Buffer.from(found.preopen);
}

function writeState(guest: Guest, place: number, found: Descriptor): void {
  const isStream = !("handle" in found);
  const type = { input: fileTypes.unknown, output: fileTypes.unknown, ...fileTypes }[found.kind];
  guest.setBytes(place, new Uint8Array(24));
  const view = guest.view();
  view.setUint8(place >>> 0, type);
  view.setUint16((place >>> 0) + 2, found.kind === "file" && found.append ? appendFlag : 0, true);
  guest.set64(place + 8, isStream ? streamRights : allRights);
  guest.set64(place + 16, isStream ? 0n : allRights);
}

function list(directory: OpenDirectory): Entry[] {
  const path = `/proc/self/fd/${directory.handle}`;
  const names = readdirSync(path, { withFileTypes: true });
  const visible = names.filter(({ name }) => accessTo(directory, name) !== undefined);
  const dots = [".", ".."].map((name) => ({ name: Buffer.from(name), inode: 0n, type: fileTypes.directory }));
  return [
    ...dots,
    ...visible.map((entry) => ({
      name: Buffer.from(entry.name),
      inode: inodeOf(`${path}/${entry.name}`),
      type: toFileType(entry),
    })),
  ];
}

function inodeOf(path: string): bigint {
  return lstatSync(path, { bigint: true, throwIfNoEntry: false })?.ino ?? 0n;
}

/** Writes entries from `first` on until there is no room; the last one may be cut off, which says that there are more. */
function writeEntries(buffer: Uint8Array, entries: readonly Entry[], first: number): number {
  let used = 0;
  for (let index = first; index < entries.length && used < buffer.length; index += 1) {
    const entry = entries[index];
    if (entry === undefined) break;
    const record = Buffer.alloc(entryBytes + entry.name.length);
    record.writeBigUInt64LE(BigInt(index + 1), 0);
    record.writeBigUInt64LE(entry.inode, 8);
    record.writeUInt32LE(entry.name.length, 16);
    record.writeUInt8(entry.type, 20);
    record.set(entry.name, entryBytes);
    const part = record.subarray(0, buffer.length - used);
    buffer.set(part, used);
    used += part.length;
  }
  return used;
}
