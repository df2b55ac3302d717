import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  lstatSync,
  openSync,
  readlinkSync,
  readSync,
  realpathSync,
  type Stats,
} from "node:fs";

import { describeForeignOwner } from "./files.ts";

/** What the system says about a file or a folder without reading it. The last number changes whenever anything does. */
export type Mark = readonly [device: number, inode: number, bytes: number, modifiedMs: number, changedMs: number];

/** Takes the mark from the status of a file. */
export function toMark({ dev, ino, size, mtimeMs, ctimeMs }: Stats): Mark {
  return [dev, ino, size, mtimeMs, ctimeMs];
}

/** The bytes of a file with its mark from before it was read, or why it cannot be read. */
export type FileReading =
  | { readonly ok: true; readonly bytes: Uint8Array; readonly mark: Mark }
  | { readonly ok: false; readonly severity: "warning" | "error"; readonly code: string; readonly reason: string };

/** Linux shows the folders and files that a process holds open; opening through them is opening without a path. */
export const hasDescriptorPaths: boolean = process.platform === "linux" && existsSync("/proc/self/fd");

// Without O_NONBLOCK, opening a pipe waits for a writer. Windows has neither.
const openFlags = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

const setIdBits = process.platform === "win32" ? 0 : 0o6000;

/** How a file is read. */
export interface ReadOptions {
  readonly maxBytes: number;
  /** The real path that the file must have: folders on the way may have been exchanged since it was resolved. */
  readonly mustBe?: string;
  /** Whether a file of another user, who is not root, is refused. @default false */
  readonly isOwnOnly?: boolean;
  /** Use the bytes before the next file is read: they are not kept. @default false */
  readonly isForNow?: boolean;
}

/** Reads a file that is a plain file at the moment it is opened, never through a link that was put in its place. */
export function readRegularFile(
  path: string,
  { maxBytes, mustBe, isOwnOnly = false, isForNow = false }: ReadOptions,
): FileReading {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(path, openFlags);
    const status = fstatSync(descriptor);
    if (!status.isFile()) return refuse("warning", "file-special", "it is not a plain file");
    if ((status.mode & setIdBits) !== 0) {
      return refuse("error", "file-setid", "a file with setuid or setgid is refused; clear the bit with chmod");
    }
    const foreign = isOwnOnly ? describeForeignOwner(status) : undefined;
    if (foreign !== undefined) return refuse("error", "file-foreign", foreign);
    if (status.size > maxBytes) return refuse("error", "folder-large", "it holds more than the limit allows");
    if (mustBe !== undefined && !isAt(descriptor, status, mustBe)) {
      return refuse("error", "file-moved", "a link was put in its place while it was read");
    }
    return { ok: true, bytes: readAll(descriptor, status.size, isForNow), mark: toMark(status) };
  } catch (cause) {
    return refuse("warning", "file-unreadable", messageOf(cause));
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

function refuse(severity: "warning" | "error", code: string, reason: string): FileReading {
  return { ok: false, severity, code, reason };
}

/** Whether what was opened is at this real path. Where the system does not tell, the path is resolved again. */
function isAt(descriptor: number, opened: { readonly ino: number; readonly dev: number }, path: string): boolean {
  if (hasDescriptorPaths) return readlinkSync(`/proc/self/fd/${descriptor}`) === path;
  const { ino, dev } = lstatSync(path);
  return ino === opened.ino && dev === opened.dev && realpathSync.native(path) === path;
}

/** Holds the bytes that are not kept: making room for each file costs more than reading it. */
let spare: Buffer = Buffer.alloc(0);
const maxSpareBytes = 1024 * 1024;

function makeRoom(size: number, isForNow: boolean): Buffer {
  if (!isForNow || size > maxSpareBytes) return Buffer.allocUnsafe(size);
  if (spare.length === 0) spare = Buffer.allocUnsafeSlow(maxSpareBytes);
  return spare;
}

/** Reads what the file held when it was opened; one that grows meanwhile is not followed. */
function readAll(descriptor: number, size: number, isForNow: boolean): Uint8Array {
  const buffer = makeRoom(size, isForNow);
  let length = 0;
  while (length < size) {
    const count = readSync(descriptor, buffer, length, size - length, length);
    if (count === 0) break;
    length += count;
  }
  return buffer.subarray(0, length);
}

/** Why a file could not be read, in a word. */
export function messageOf(cause: unknown): string {
  if (cause instanceof Error && "code" in cause && typeof cause.code === "string") return cause.code;
  return cause instanceof Error ? cause.message : String(cause);
}
