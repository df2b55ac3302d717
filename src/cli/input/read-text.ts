import { closeSync, openSync, readSync, statSync } from "node:fs";
import { resolve } from "node:path";

import { describeFileError } from "../../platform/files.ts";
import { usageError } from "../usage-error.ts";

/** What a workspace takes as an input unless it is told otherwise: no value of it can be longer. */
const maxValueBytes = 16 * 1024 * 1024;

/**
 * The text that a person gives with a flag: of a file if it begins with `@`, else as it is. Two of them stand for one `@`.
 *
 * @throws {KitbagError} `usage-invalid` if the file cannot be read, is no text, or is longer than `maxBytes`.
 */
export function readText(flag: string, given: string, cwd: string, maxBytes: number = maxValueBytes): string {
  if (!given.startsWith("@")) return given;
  if (given.startsWith("@@")) return given.slice(1);
  const bytes = readBytes({ flag, given, path: resolve(cwd, given.slice(1)) }, maxBytes);
  if (bytes.length > maxBytes) return refuseLong(flag, maxBytes);
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw usageError(`Cannot read ${flag} ${given}: it is not text in UTF-8`);
  }
}

interface NamedFile {
  readonly flag: string;
  readonly given: string;
  readonly path: string;
}

/** Reads a file or a pipe, and one byte more than may be at most: a pipe does not say how long it is. */
function readBytes({ flag, given, path }: NamedFile, maxBytes: number): Uint8Array {
  try {
    const stats = statSync(path);
    if (stats.isFile() || stats.isFIFO()) return readUpTo(path, maxBytes + 1);
    if (!stats.isDirectory()) throw new Error("it is neither a file nor a pipe; name a file");
    throw new Error("it is a folder");
  } catch (cause) {
    throw usageError(`Cannot read ${flag} ${given}: ${describeFileError(cause)}`);
  }
}

const pieceBytes = 64 * 1024;

function readUpTo(path: string, mostBytes: number): Uint8Array {
  const file = openSync(path, "r");
  const pieces: Uint8Array[] = [];
  try {
    for (let left = mostBytes; left > 0;) {
      const piece = Buffer.allocUnsafe(Math.min(left, pieceBytes));
      const count = readSync(file, piece);
      if (count === 0) break;
      pieces.push(piece.subarray(0, count));
      left -= count;
    }
  } finally {
    closeSync(file);
  }
  return Buffer.concat(pieces);
}

/** @throws {KitbagError} `usage-invalid`: what was given is too long. */
export function refuseLong(flag: string, maxBytes: number): never {
  throw usageError(`Cannot use ${flag}: it is longer than ${maxBytes} bytes`);
}
