import { createHash } from "node:crypto";
import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  readSync,
  realpathSync,
  type Dirent,
} from "node:fs";
import { join, relative, sep } from "node:path";

import type { Diagnostic } from "../../core/diagnostics.ts";
import type { SkillFile } from "../../core/skill.ts";

/** How large a skill may be. */
export interface FolderLimits {
  readonly maxFiles: number;
  readonly maxBytes: number;
  readonly maxDepth: number;
}

/** A skill's folder as it was at one moment: every file with its digest, and the bytes of those that are read as text. */
export interface FolderSnapshot {
  /** With symbolic links resolved. */
  readonly directory: string;
  /** Sorted by path. */
  readonly files: readonly SkillFile[];
  /** By path: what was hashed, for the files that are small enough to be looked at. */
  readonly contents: ReadonlyMap<string, Uint8Array>;
  readonly digest: string;
  /** What was left out and why. An `error` means that the folder cannot be used. */
  readonly diagnostics: readonly Diagnostic[];
}

const defaults: FolderLimits = { maxFiles: 5000, maxBytes: 100 * 1024 * 1024, maxDepth: 12 };

/** Files above this are hashed but not kept in memory. */
const maxContentBytes = 1024 * 1024;

/** Folders that are never part of a skill. */
const ignoredFolders = new Set([".git", ".hg", ".svn", "node_modules", "__pycache__", ".venv", ".kitbag"]);

/**
 * Reads a skill's folder: lists, hashes and keeps what is in it. Never leaves the folder, whatever links are in it, and never
 * waits: devices and pipes are not opened.
 *
 * Contract: never throws for what is on the disk; whatever is left out has a diagnostic. Bounded by `limits`.
 */
export function readFolder(directory: string, limits: Partial<FolderLimits> = {}): FolderSnapshot {
  const walk: Walk = {
    limits: { ...defaults, ...limits },
    root: resolveRoot(directory),
    files: [],
    contents: new Map(),
    diagnostics: [],
    bytes: 0,
  };
  if (walk.root === undefined) {
    report(walk, "error", "folder-missing", "", `Cannot read the folder: ${directory} is not there or is not a folder`);
    return finish(walk, directory);
  }
  visit(walk, walk.root, "", 0);
  return finish(walk, walk.root);
}

interface Walk {
  readonly limits: FolderLimits;
  readonly root: string | undefined;
  readonly files: SkillFile[];
  readonly contents: Map<string, Uint8Array>;
  readonly diagnostics: Diagnostic[];
  bytes: number;
}

function resolveRoot(directory: string): string | undefined {
  try {
    const root = realpathSync(directory);
    return lstatSync(root).isDirectory() ? root : undefined;
  } catch {
    return undefined;
  }
}

function finish(walk: Walk, directory: string): FolderSnapshot {
  const files = walk.files.toSorted((left, right) => (left.path < right.path ? -1 : 1));
  return { directory, files, contents: walk.contents, digest: toFolderDigest(files), diagnostics: walk.diagnostics };
}

/** One digest for all files. Lengths stand before texts, so that no two lists of files are written alike. */
export function toFolderDigest(files: readonly SkillFile[]): string {
  const hash = createHash("sha256");
  for (const { path, digest } of files) hash.update(`${Buffer.byteLength(path)}:${path}${digest}\n`);
  return `sha256:${hash.digest("hex")}`;
}

function visit(walk: Walk, folder: string, prefix: string, depth: number): void {
  if (depth > walk.limits.maxDepth) {
    return report(
      walk,
      "warning",
      "folder-deep",
      prefix,
      `Left out ${prefix}: more than ${walk.limits.maxDepth} folders deep`,
    );
  }
  let items: Dirent[];
  try {
    items = readdirSync(folder, { withFileTypes: true });
  } catch (cause) {
    return report(
      walk,
      "warning",
      "folder-unreadable",
      prefix,
      `Left out ${prefix || "the folder"}: ${messageOf(cause)}`,
    );
  }
  for (const item of items.toSorted((left, right) => (left.name < right.name ? -1 : 1))) {
    if (isFull(walk)) return;
    visitItem(walk, folder, prefix, depth, item);
  }
}

function isFull(walk: Walk): boolean {
  if (walk.files.length <= walk.limits.maxFiles && walk.bytes <= walk.limits.maxBytes) return false;
  if (!walk.diagnostics.some((one) => one.code === "folder-large")) {
    const { maxFiles, maxBytes } = walk.limits;
    report(
      walk,
      "error",
      "folder-large",
      "",
      `Cannot use the folder: it holds more than ${maxFiles} files or ${maxBytes} bytes`,
    );
  }
  return true;
}

// oxlint-disable-next-line max-params -- one step of a walk
function visitItem(walk: Walk, folder: string, prefix: string, depth: number, item: Dirent): void {
  const path = prefix === "" ? item.name : `${prefix}/${item.name}`;
  const file = join(folder, item.name);
  if (item.isDirectory()) {
    if (!ignoredFolders.has(item.name)) visit(walk, file, path, depth + 1);
  } else if (item.isSymbolicLink()) visitLink(walk, file, path, depth);
  else if (item.isFile()) addFile(walk, file, path);
  else report(walk, "warning", "file-special", path, `Left out ${path}: it is a device, a pipe or a socket`);
}

/** A link to a file of the same folder is read as that file. Links to folders are not followed: they may go in circles. */
function visitLink(walk: Walk, file: string, path: string, depth: number): void {
  let target: string;
  try {
    target = realpathSync(file);
  } catch (cause) {
    return report(
      walk,
      "warning",
      "link-broken",
      path,
      `Left out ${path}: the link leads nowhere (${messageOf(cause)})`,
    );
  }
  if (!isInside(target, walk.root ?? "")) {
    return report(walk, "error", "link-outside", path, `Cannot use the folder: ${path} is a link that leaves it`);
  }
  if (depth <= walk.limits.maxDepth && lstatSync(target, { throwIfNoEntry: false })?.isFile() === true)
    return addFile(walk, target, path);
  report(walk, "warning", "link-folder", path, `Left out ${path}: links to folders are not followed`);
}

/** Tells whether `path` is `root` or below it, by whole names. */
export function isInside(path: string, root: string): boolean {
  const way = relative(root, path);
  return way === "" || (!way.startsWith(`..${sep}`) && way !== ".." && !/^(?:[A-Za-z]:)?[\\/]/u.test(way));
}

function addFile(walk: Walk, file: string, path: string): void {
  const read = readRegularFile(file, walk.limits.maxBytes - walk.bytes);
  if (!read.ok)
    return report(
      walk,
      read.severity,
      read.code,
      path,
      `${read.severity === "error" ? "Cannot use the folder" : `Left out ${path}`}: ${read.reason}`,
    );
  walk.bytes += read.bytes.length;
  const digest = `sha256:${createHash("sha256").update(read.bytes).digest("hex")}`;
  walk.files.push({ path, bytes: read.bytes.length, digest });
  if (read.bytes.length <= maxContentBytes) walk.contents.set(path, read.bytes);
}

type FileReading =
  | { readonly ok: true; readonly bytes: Uint8Array }
  | { readonly ok: false; readonly severity: "warning" | "error"; readonly code: string; readonly reason: string };

const setIdBits = constants.S_IFMT === undefined ? 0 : 0o6000;

/** Reads a file that is a plain file at the moment it is opened, without following a link that was put in its place. */
export function readRegularFile(file: string, maxBytes: number): FileReading {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    const status = fstatSync(descriptor);
    if (!status.isFile())
      return { ok: false, severity: "warning", code: "file-special", reason: "it is not a plain file" };
    if ((status.mode & setIdBits) !== 0) {
      return {
        ok: false,
        severity: "error",
        code: "file-setid",
        reason: "a file with setuid or setgid is refused; clear the bit with chmod",
      };
    }
    if (status.size > maxBytes)
      return { ok: false, severity: "error", code: "folder-large", reason: `it holds more than the limit allows` };
    return { ok: true, bytes: readAll(descriptor, status.size) };
  } catch (cause) {
    return { ok: false, severity: "warning", code: "file-unreadable", reason: messageOf(cause) };
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
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

// oxlint-disable-next-line max-params -- a diagnostic has this many facts
function report(walk: Walk, severity: Diagnostic["severity"], code: string, file: string, message: string): void {
  walk.diagnostics.push({ severity, code, message, file });
}

function messageOf(cause: unknown): string {
  if (cause instanceof Error && "code" in cause && typeof cause.code === "string") return cause.code;
  return cause instanceof Error ? cause.message : String(cause);
}
