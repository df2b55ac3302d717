import { readSync } from "node:fs";

import type { Descriptors, OpenFile } from "./descriptors.ts";
import { WasiError } from "./errno.ts";
import type { Guest } from "./guest.ts";
import type { WasiFunctions } from "./wasi-function.ts";

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
