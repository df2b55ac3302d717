import { fdatasyncSync, fstatSync, fsyncSync, ftruncateSync, futimesSync, readSync, writeSync } from "node:fs";

import type { Descriptors, OpenFile } from "./descriptors.ts";
import { WasiError } from "./errno.ts";
import type { Guest } from "./guest.ts";
import { toTimes } from "./stat-record.ts";
import type { WasiFunctions } from "./wasi-names.ts";

/** Reading from what is open. */
export function readFunctions(guest: Guest, descriptors: Descriptors): WasiFunctions {
  return {
    fd_read: (fd: number, list: number, count: number, result: number) => {
      const from = descriptors.get(fd);
      let total = 0;
      if (from.kind === "input") {
        for (const buffer of guest.buffers(list, count)) {
          const part = from.bytes.subarray(from.position, from.position + buffer.length);
          buffer.set(part);
          from.position += part.length;
          total += part.length;
        }
      } else {
        const file = readable(descriptors.file(fd));
        total = readInto(file, guest.buffers(list, count), file.position);
        file.position += total;
      }
      guest.set32(result, total);
    },
    // oxlint-disable-next-line max-params -- as WASI has it
    fd_pread: (fd: number, list: number, count: number, offset: bigint, result: number) => {
      guest.set32(result, readInto(readable(descriptors.file(fd)), guest.buffers(list, count), toOffset(offset)));
    },
  };
}

function readable(file: OpenFile): OpenFile {
  if (!file.readable) throw new WasiError("badf");
  return file;
}

function readInto(file: OpenFile, buffers: Iterable<Uint8Array>, start: number): number {
  let total = 0;
  for (const buffer of buffers) {
    const count = buffer.length === 0 ? 0 : readSync(file.handle, buffer, 0, buffer.length, start + total);
    total += count;
    if (count < buffer.length) break;
  }
  return total;
}

/** A place in a file, as a number that is exact. */
export function toOffset(given: bigint): number {
  const offset = Number(given);
  if (!Number.isSafeInteger(offset) || offset < 0) throw new WasiError("inval");
  return offset;
}

/** Writing to what is open. No file grows beyond `fileBytes`: the operating system would end the whole host for it. */
export function writeFunctions(guest: Guest, descriptors: Descriptors, fileBytes: number): WasiFunctions {
  const writable = (fd: number): OpenFile => {
    const file = descriptors.file(fd);
    if (!file.writable) throw new WasiError("badf");
    return file;
  };

  const writeFrom = (file: OpenFile, buffers: Iterable<Uint8Array>, start: number): number => {
    let total = 0;
    for (const buffer of buffers) total += writeAt(file, buffer, start + total, fileBytes);
    return total;
  };

  function resize(fd: number, size: number): void {
    if (size > fileBytes) throw new WasiError("fbig");
    ftruncateSync(writable(fd).handle, size);
  }

  return {
    fd_write: (fd: number, list: number, count: number, result: number) => {
      const to = descriptors.get(fd);
      let total = 0;
      if (to.kind === "output") {
        for (const buffer of guest.buffers(list, count)) {
          to.write(buffer);
          total += buffer.length;
        }
      } else {
        const file = writable(fd);
        total = writeFrom(file, guest.buffers(list, count), file.position);
        file.position = file.append ? fstatSync(file.handle).size : file.position + total;
      }
      guest.set32(result, total);
    },
    // oxlint-disable-next-line max-params -- as WASI has it
    fd_pwrite: (fd: number, list: number, count: number, offset: bigint, result: number) => {
      guest.set32(result, writeFrom(writable(fd), guest.buffers(list, count), toOffset(offset)));
    },
    fd_allocate: (fd: number, offset: bigint, length: bigint) => {
      const size = toOffset(offset) + toOffset(length);
      if (size > fstatSync(writable(fd).handle).size) resize(fd, size);
    },
    fd_filestat_set_size: (fd: number, size: bigint) => resize(fd, toOffset(size)),
    fd_filestat_set_times: (fd: number, access: bigint, change: bigint, flags: number) => {
      const { handle } = writable(fd);
      const times = toTimes(fstatSync(handle, { bigint: true }), { access, change, flags });
      futimesSync(handle, ...times);
    },
    fd_sync: (fd: number) => fsyncSync(descriptors.file(fd).handle),
    fd_datasync: (fd: number) => fdatasyncSync(descriptors.file(fd).handle),
  };
}

function writeAt(file: OpenFile, buffer: Uint8Array, start: number, fileBytes: number): number {
  const place = file.append ? fstatSync(file.handle).size : start;
  if (place + buffer.length > fileBytes) throw new WasiError("fbig");
  return buffer.length === 0 ? 0 : writeSync(file.handle, buffer, 0, buffer.length, file.append ? null : place);
}
