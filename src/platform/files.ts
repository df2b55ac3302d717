/**
 * `platform`: helpers on top of Node, one of each: files, the lock between processes, leases, lines, clock, paths, the home folder. Imports
 * Node and `core` only. Start with this file; each other file is named after its one concept.
 */

import { randomBytes } from "node:crypto";
import {
  appendFileSync,
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";

/** How {@link writeFileAtomically} writes. */
export interface WriteOptions {
  /** The permissions of the new file. @default 0o600, for its owner alone */
  readonly mode?: number;
}

/**
 * Writes a file so that readers see it whole or as it was before, also after a loss of power: the bytes are on disk before the file
 * has its name, and the name is on disk before this returns. The folder must exist. A symlink at `path` is replaced, not followed.
 * Throws the error of the file system, and leaves nothing behind then.
 */
export function writeFileAtomically(path: string, content: string | Uint8Array, options: WriteOptions = {}): void {
  const draft = nameDraft(path);
  try {
    writeNewFile(draft, content, options);
    renameSync(draft, path);
  } catch (cause) {
    rmSync(draft, { force: true });
    throw cause;
  }
  syncFolder(dirname(path));
}

/**
 * Makes a file as {@link writeFileAtomically} does, unless there is one: of several programs that make it at once, one wins. Tells
 * whether this one did.
 */
export function createFileAtomically(path: string, content: string | Uint8Array, options: WriteOptions = {}): boolean {
  const draft = nameDraft(path);
  try {
    writeNewFile(draft, content, options);
    linkSync(draft, path);
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === "EEXIST" && existsSync(path)) return false;
    throw cause;
  } finally {
    rmSync(draft, { force: true });
  }
  syncFolder(dirname(path));
  return true;
}

/** Files by their path in a folder, with `/`. */
export type FileMap = ReadonlyMap<string, Uint8Array>;

/**
 * Writes a folder so that readers see it whole or not at all; its draft stands in `near`, which must be on the same file system. A
 * folder at `path` is replaced, and is missing only between two renames. Throws the error of the file system.
 */
export function replaceFolder(path: string, files: FileMap, near: string = dirname(path)): void {
  const id = randomBytes(6).toString("hex");
  const draft = join(near, `.new-${id}`);
  const old = join(near, `.old-${id}`);
  try {
    mkdirSync(draft, { recursive: true });
    writeNewFiles(draft, files);
    if (existsSync(path)) renameSync(path, old);
    renameSync(draft, path);
    syncFolder(dirname(path));
    rmSync(old, { recursive: true, force: true });
  } catch (cause) {
    rmSync(draft, { recursive: true, force: true });
    if (existsSync(old) && !existsSync(path)) renameSync(old, path);
    throw cause;
  }
}

/** Writes new files, which others may read, into a folder that no other program reads yet. */
export function writeNewFiles(directory: string, files: FileMap): void {
  for (const [path, bytes] of files) {
    const target = join(directory, path);
    mkdirSync(dirname(target), { recursive: true });
    writeNewFile(target, bytes, { mode: 0o644 });
  }
}

/** A new file, on disk. What another program put at `path`, even a symlink, is not written to. */
function writeNewFile(path: string, content: string | Uint8Array, { mode = 0o600 }: WriteOptions): void {
  writeFileSync(path, content, { flag: "wx", mode, flush: true });
}

/** Adds a line to the end of a file, and waits until it is on disk. */
export function appendLine(path: string, line: string): void {
  appendFileSync(path, `${line}\n`, { flush: true });
}

function nameDraft(path: string): string {
  return `${path}.${randomBytes(6).toString("hex")}.new`;
}

/** Gives a file that is complete its name, in the place of a file that has it: the bytes are on disk before, and the name after. */
export function renameDurably(draft: string, path: string): void {
  flush(draft);
  renameSync(draft, path);
  syncFolder(dirname(path));
}

/** Waits until the names in a folder are on disk. Where the system has no way to do that, they get there a little later. */
export function syncFolder(path: string): void {
  try {
    flush(path);
  } catch {
    // Windows opens no folders, and some file systems flush none.
  }
}

function flush(path: string): void {
  const descriptor = openSync(path, "r");
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** The text of a file; `undefined` if it does not exist. Any other failure is thrown. */
export function readTextIfExists(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw cause;
  }
}

/**
 * Makes a reader that loads a file again only when it was replaced. For files that are always replaced as a whole. What `load` throws
 * is thrown, each time.
 */
export function rememberFile<Content>(path: string, load: () => Content): () => Content {
  let known: { readonly version: string; readonly content: Content } | undefined;
  return () => {
    const version = versionOf(path);
    if (known?.version === version) return known.content;
    known = undefined;
    const content = load();
    known = { version, content };
    return content;
  };
}

function versionOf(path: string): string {
  try {
    const { ino, size, mtimeNs, ctimeNs } = statSync(path, { bigint: true });
    return `${ino} ${size} ${mtimeNs} ${ctimeNs}`;
  } catch {
    return "missing";
  }
}

/** Says in words why a file could not be read or written. */
export function describeFileError(cause: unknown): string {
  const { code, message } = cause as NodeJS.ErrnoException;
  switch (code) {
    case "ENOENT":
      return "there is no such file";
    case "EACCES":
    case "EPERM":
      return "there is no permission for it";
    case "EISDIR":
      return "it is a folder";
    case "ELOOP":
      return "its symbolic links lead in a circle";
    case undefined:
    default:
      return message;
  }
}

/**
 * Says why a file that decides what runs cannot be used: another user owns it and can change it at any time. Answers with `undefined`
 * for a file of this user or of root, and where files have no such owner (Windows).
 */
export function describeForeignOwner(
  { uid }: { readonly uid: number },
  me: number | undefined = process.getuid?.(),
): string | undefined {
  if (me === undefined || uid === me || uid === 0) return undefined;
  return `it belongs to another user (uid ${uid}), and you are uid ${me}; make it yours with chown, remove it, or run kitbag as its owner`;
}
