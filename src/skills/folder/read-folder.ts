import {
  closeSync,
  constants,
  type Dirent,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  readlinkSync,
  realpathSync,
} from "node:fs";
import { join } from "node:path";

import type { Diagnostic } from "../../core/diagnostics.ts";
import type { SkillFile } from "../../core/skill.ts";
import type { FolderMarks } from "./folder-marks.ts";
import {
  type Mark,
  toMark,
  type FileReading,
  hasDescriptorPaths,
  messageOf,
  type ReadOptions,
  readRegularFile,
} from "../../platform/read-file.ts";
import { isIgnoredFile, isIgnoredFolder } from "./ignored-names.ts";
import { isInside, showPath } from "../../platform/paths.ts";
import { toDigest, toFolderDigest } from "../../platform/digest.ts";

/** How large a skill may be. */
export interface FolderLimits {
  /** Files, folders and everything else that has a name. */
  readonly maxItems: number;
  readonly maxBytes: number;
  readonly maxDepth: number;
}

/** How a folder is read. */
export interface ReadFolderOptions extends Partial<FolderLimits> {
  /** Keeps the bytes that were hashed. @default true */
  readonly keepsContents?: boolean;
  /** Takes the marks that tell later whether anything has changed. @default true */
  readonly takesMarks?: boolean;
}

/** A skill's folder as it was at one moment: every file with its digest, and the bytes of those that are read as text. */
export interface FolderSnapshot {
  /** With symbolic links resolved. */
  readonly directory: string;
  /** Sorted by path. */
  readonly files: readonly SkillFile[];
  /** By path: what was hashed, for the files that are small enough to be looked at; empty if nothing was to be kept. */
  readonly contents: ReadonlyMap<string, Uint8Array>;
  readonly digest: string;
  /** What was left out and why. An `error` means that the folder cannot be used. */
  readonly diagnostics: readonly Diagnostic[];
  /** How to tell that nothing has changed; none if the folder is not so simple: with links, or with something left out. */
  readonly marks?: FolderMarks;
}

const defaults: FolderLimits = { maxItems: 5000, maxBytes: 100 * 1024 * 1024, maxDepth: 12 };

/** Files above this are hashed but not kept in memory. */
const maxContentBytes = 1024 * 1024;

/**
 * Reads a skill's folder: lists, hashes and keeps what is in it, each file in one reading. Never leaves the folder, whatever links
 * are in it or are put in it meanwhile, and never waits: devices and pipes are not opened.
 *
 * Contract: never throws for what is on the disk; whatever is left out has a diagnostic. Bounded by `limits`.
 */
export function readFolder(directory: string, options: ReadFolderOptions = {}): FolderSnapshot {
  const { keepsContents = true, takesMarks = true, ...limits } = options;
  const walk: Walk = {
    limits: { ...defaults, ...limits },
    root: directory,
    keepsContents,
    marks: [],
    takesMarks,
    isSimple: takesMarks,
    files: [],
    contents: new Map(),
    diagnostics: [],
    items: 0,
    bytes: 0,
  };
  const takenAt = Date.now();
  let folder: OpenFolder;
  try {
    folder = openFolder(directory);
  } catch {
    const message = `Cannot read the folder: ${showPath(directory)} is not there or is not a folder`;
    return finish(report(walk, { severity: "error", code: "folder-missing", file: "", message }), takenAt);
  }
  try {
    walk.root = folder.path;
    visit(walk, folder, "", 0);
  } finally {
    folder.close();
  }
  return finish(walk, takenAt);
}

interface Walk {
  readonly limits: FolderLimits;
  readonly keepsContents: boolean;
  readonly marks: [path: string, mark: Mark][];
  readonly takesMarks: boolean;
  isSimple: boolean;
  root: string;
  readonly files: SkillFile[];
  readonly contents: Map<string, Uint8Array>;
  readonly diagnostics: Diagnostic[];
  items: number;
  bytes: number;
}

function finish({ root, files: found, contents, diagnostics, marks, isSimple }: Walk, takenAt: number): FolderSnapshot {
  // Folder by folder is not the order of whole paths: "a-b" stands before "a/b".
  const files = found.toSorted((left, right) => (left.path < right.path ? -1 : 1));
  return {
    directory: root,
    files,
    contents,
    digest: toFolderDigest(files),
    diagnostics,
    ...(isSimple && diagnostics.length === 0 && { marks: { takenAt, items: marks } }),
  };
}

function visit(walk: Walk, folder: OpenFolder, prefix: string, depth: number): void {
  let items: Dirent[];
  try {
    if (walk.takesMarks) walk.marks.push([prefix, folder.mark()]);
    items = folder.list();
  } catch (cause) {
    return leaveOut(walk, "folder-unreadable", prefix, messageOf(cause));
  }
  for (const item of items) {
    walk.items += 1;
    if (isFull(walk)) return;
    visitItem(walk, folder, item, prefix === "" ? item.name : `${prefix}/${item.name}`, depth);
  }
}

function isFull(walk: Walk): boolean {
  const { maxItems, maxBytes } = walk.limits;
  if (walk.items <= maxItems && walk.bytes <= maxBytes) return false;
  if (!walk.diagnostics.some((one) => one.code === "folder-large")) {
    const message = `Cannot use the folder: it holds more than ${maxItems} files and folders, or ${maxBytes} bytes`;
    report(walk, { severity: "error", code: "folder-large", file: "", message });
  }
  return true;
}

// oxlint-disable-next-line max-params -- one step of a walk
function visitItem(walk: Walk, folder: OpenFolder, item: Dirent, path: string, depth: number): void {
  if (item.isDirectory()) visitFolder(walk, folder, item.name, path, depth);
  else if (isIgnoredFile(item.name)) return;
  else if (item.isSymbolicLink()) visitLink(walk, folder.pathOf(item.name), path);
  else if (item.isFile()) addFile(walk, path, folder.readFile(item.name, toReadOptions(walk)));
  else leaveOut(walk, "file-special", path, "it is a device, a pipe or a socket");
}

// oxlint-disable-next-line max-params -- one step of a walk
function visitFolder(walk: Walk, parent: OpenFolder, name: string, path: string, depth: number): void {
  if (isIgnoredFolder(name)) return;
  if (depth >= walk.limits.maxDepth) {
    return leaveOut(walk, "folder-deep", path, `it is more than ${walk.limits.maxDepth} folders deep`);
  }
  let folder: OpenFolder;
  try {
    folder = parent.openFolder(name);
  } catch (cause) {
    return leaveOut(walk, "folder-unreadable", path, messageOf(cause));
  }
  try {
    visit(walk, folder, path, depth + 1);
  } finally {
    folder.close();
  }
}

/** A link to a file of the same folder is read as that file. Links to folders are not followed: they may go in circles. */
function visitLink(walk: Walk, link: string, path: string): void {
  walk.isSimple = false;
  let target: string;
  let isFile: boolean;
  try {
    target = realpathSync.native(link);
    isFile = lstatSync(target).isFile();
  } catch (cause) {
    return leaveOut(walk, "link-broken", path, `the link leads nowhere (${messageOf(cause)})`);
  }
  if (!isInside(target, walk.root)) {
    const message = `Cannot use the folder: ${showPath(path)} is a link that leaves it`;
    report(walk, { severity: "error", code: "link-outside", file: path, message });
  } else if (isFile) addFile(walk, path, readRegularFile(target, { ...toReadOptions(walk), mustBe: target }));
  else leaveOut(walk, "link-folder", path, "links to folders are not followed");
}

function toReadOptions({ limits, bytes, keepsContents }: Walk): ReadOptions {
  return { maxBytes: limits.maxBytes - bytes, isForNow: !keepsContents };
}

function addFile(walk: Walk, path: string, read: FileReading): void {
  if (!read.ok) {
    const { severity, code, reason } = read;
    if (severity === "warning") return leaveOut(walk, code, path, reason);
    report(walk, { severity, code, file: path, message: `Cannot use the folder: ${showPath(path)}: ${reason}` });
    return;
  }
  const { bytes, mark } = read;
  walk.bytes += bytes.length;
  if (walk.takesMarks) walk.marks.push([path, mark]);
  walk.files.push({ path, bytes: bytes.length, digest: toDigest(bytes) });
  if (walk.keepsContents && bytes.length <= maxContentBytes) walk.contents.set(path, bytes);
}

function leaveOut(walk: Walk, code: string, path: string, reason: string): void {
  const what = path === "" ? "the folder" : showPath(path);
  report(walk, { severity: "warning", code, file: path, message: `Left out ${what}: ${reason}` });
}

function report(walk: Walk, diagnostic: Diagnostic): Walk {
  walk.diagnostics.push(diagnostic);
  return walk;
}

/**
 * A folder that is held open: what is listed and read through it is in it, whatever is put at its path meanwhile. Where a system
 * cannot hold a folder open, its path is used and looked at again after each step.
 */
interface OpenFolder {
  /** With links resolved. */
  readonly path: string;
  /** Changes when something is put into it or taken out. Throws what the system says, as the next one does. */
  mark(): Mark;
  /** Sorted by name. */
  list(): Dirent[];
  /** Opens a folder in this one, not through a link. Throws what the system says. */
  openFolder(name: string): OpenFolder;
  readFile(name: string, options: ReadOptions): FileReading;
  /** A path that leads to what is in this folder now. */
  pathOf(name: string): string;
  close(): void;
}

/** Opens a folder, through links if there are any on the way to it. Throws what the system says. */
function openFolder(path: string): OpenFolder {
  return hasDescriptorPaths ? openHeld(path, folderFlags) : openByPath(realpathSync.native(path));
}

const folderFlags = constants.O_RDONLY | (constants.O_DIRECTORY ?? 0);

function openHeld(way: string, flags: number): OpenFolder {
  const descriptor = openSync(way, flags);
  const held = `/proc/self/fd/${descriptor}`;
  const pathOf = (name: string): string => `${held}/${name}`;
  return {
    get path() {
      return readlinkSync(held);
    },
    mark: () => toMark(fstatSync(descriptor)),
    list: () => listFolder(held),
    openFolder: (name) => openHeld(pathOf(name), folderFlags | constants.O_NOFOLLOW),
    readFile: (name, options) => readRegularFile(pathOf(name), options),
    pathOf,
    close: () => closeSync(descriptor),
  };
}

function openByPath(path: string): OpenFolder {
  const pathOf = (name: string): string => join(path, name);
  return {
    path,
    mark: () => toMark(lstatSync(path)),
    list: () => listFolder(path),
    openFolder: (name) => openByPath(pathOf(name)),
    readFile: (name, options) => readRegularFile(pathOf(name), { ...options, mustBe: pathOf(name) }),
    pathOf,
    close() {},
  };
}

function listFolder(path: string): Dirent[] {
  return readdirSync(path, { withFileTypes: true }).toSorted((left, right) => (left.name < right.name ? -1 : 1));
}
