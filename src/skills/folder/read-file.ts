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
} from "node:fs";

/** The bytes of a file, or why they are not to be had. */
export type FileReading =
  | { readonly ok: true; readonly bytes: Uint8Array }
  | { readonly ok: false; readonly severity: "warning" | "error"; readonly code: string; readonly reason: string };

/** Linux shows the folders and files that a process holds open; opening through them is opening without a path. */
export const hasDescriptorPaths: boolean = process.platform === "linux" && existsSync("/proc/self/fd");

// Without O_NONBLOCK, opening a pipe waits for somebody to write. Windows has neither.
const openFlags = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

const setIdBits = process.platform === "win32" ? 0 : 0o6000;

/**
 * Reads a file that is a plain file at the moment it is opened, never through a link that was put in its place. With `mustBe` it
 * must be the file of this real path; folders on the way may have been exchanged since it was resolved.
 */
export function readRegularFile(path: string, maxBytes: number, mustBe?: string): FileReading {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(path, openFlags);
    const status = fstatSync(descriptor);
    if (!status.isFile()) return refuse("warning", "file-special", "it is not a plain file");
    if ((status.mode & setIdBits) !== 0) {
      return refuse("error", "file-setid", "a file with setuid or setgid is refused; clear the bit with chmod");
    }
    if (status.size > maxBytes) return refuse("error", "folder-large", "it holds more than the limit allows");
    if (mustBe !== undefined && !isAt(descriptor, status, mustBe)) {
      return refuse("error", "file-moved", "a link was put in its place while it was read");
    }
    return { ok: true, bytes: readAll(descriptor, status.size) };
  } catch (cause) {
    return refuse("warning", "file-unreadable", messageOf(cause));
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

function refuse(severity: "warning" | "error", code: string, reason: string): FileReading {
  return { ok: false, severity, code, reason };
}

/** Whether what was opened is at this real path. Where the system does not tell, the path is looked at once more. */
function isAt(descriptor: number, opened: { readonly ino: number; readonly dev: number }, path: string): boolean {
  if (hasDescriptorPaths) return readlinkSync(`/proc/self/fd/${descriptor}`) === path;
  const { ino, dev } = lstatSync(path);
  return ino === opened.ino && dev === opened.dev && realpathSync.native(path) === path;
}

/** Reads what the file held when it was opened; one that grows meanwhile is not followed. */
function readAll(descriptor: number, size: number): Uint8Array {
  const buffer = Buffer.allocUnsafe(size);
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
