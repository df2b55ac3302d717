import { hash } from "node:crypto";
import {
  chmodSync,
  closeSync,
  constants,
  fstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  realpathSync,
  statSync,
  writeFileSync,
  type Dirent,
} from "node:fs";
import { dirname, join, sep } from "node:path";

import { KitbagError, quote } from "../../core/errors.ts";

/** A file that the compiler sees. */
export interface SourceFile {
  /** Relative to the skill's folder. */
  readonly path: string;
  readonly digest: string;
}

/** What is copied, and where to. */
export interface SourcesToCopy {
  /** The skill's folder. */
  readonly directory: string;
  /** Relative to it, as {@link checkPath} makes it. */
  readonly source: string;
  /** An empty folder. */
  readonly target: string;
}

const maxFiles = 5000;
const maxBytes = 64 * 1024 * 1024;
const maxDepth = 16;

const ignoredFolders = new Set([
  ".git",
  ".hg",
  ".svn",
  ".kitbag",
  ".venv",
  "node_modules",
  "__pycache__",
  ".zig-cache",
]);
/** What describes a skill is no source of its tools: they are not built again when it changes. */
const ignoredFiles = new Set(["SKILL.md", "kitbag.toml", "manifest.toml", "manifest.json"]);

/**
 * Copies the folder of a source file, with everything below it, and answers with what was copied: the compiler sees nothing else.
 * Modules that were built before are left out. The copies can be read by everybody, since the compiler may be another user.
 *
 * @throws {KitbagError} `build-failed` if the source is not there, or something leads out of the skill's folder, or it is too much.
 */
export function copySources({ directory, source, target }: SourcesToCopy): SourceFile[] {
  const root = realpathSync(directory);
  const walk: Walk = { root, source, target, files: [], bytes: 0 };
  const folder = source.includes("/") ? dirname(source) : "";
  const place = join(root, folder);
  if (statSync(join(root, source), { throwIfNoEntry: false })?.isFile() !== true) refuse(walk, "there is no such file");
  if (realpathSync(place) !== place) refuse(walk, `${quote(folder)} is a link; sources must be where they seem to be`);
  visit(walk, folder, 0);
  if (!walk.files.some(({ path }) => path === source)) refuse(walk, "it is not a file that can be a source");
  return walk.files.toSorted((one, other) => (one.path < other.path ? -1 : 1));
}

interface Walk {
  readonly root: string;
  readonly source: string;
  readonly target: string;
  readonly files: SourceFile[];
  bytes: number;
}

function visit(walk: Walk, folder: string, depth: number): void {
  if (depth > maxDepth) refuse(walk, `${quote(folder)} is more than ${maxDepth} folders deep`);
  makeOpen(walk.target, folder);
  for (const item of readdirSync(join(walk.root, folder), { withFileTypes: true })) {
    const path = folder === "" ? item.name : `${folder}/${item.name}`;
    if (item.isDirectory()) {
      // Cargo's output; a folder of this name further down is source.
      const isOutput = depth === 0 && item.name === "target";
      if (!isOutput && !ignoredFolders.has(item.name)) visit(walk, path, depth + 1);
    } else if (isSource(item, folder)) copyFile(walk, path);
  }
}

/** Folders that everybody can pass through, whatever this process takes from new ones by default (umask). */
function makeOpen(target: string, folder: string): void {
  let place = target;
  for (const name of ["", ...folder.split("/")]) {
    place = join(place, name);
    mkdirSync(place, { recursive: true });
    chmodSync(place, 0o755);
  }
}

function isSource(item: Dirent, folder: string): boolean {
  if (!item.isFile() && !item.isSymbolicLink()) return false;
  return !item.name.endsWith(".wasm") && !(folder === "" && ignoredFiles.has(item.name));
}

function copyFile(walk: Walk, path: string): void {
  const bytes = readSource(walk, path);
  if (bytes === undefined) return;
  walk.bytes += bytes.length;
  if (walk.files.length >= maxFiles || walk.bytes > maxBytes) {
    refuse(walk, `its folder holds more than ${maxFiles} files or ${maxBytes} bytes; put it in a folder of its own`);
  }
  const copy = join(walk.target, path);
  writeFileSync(copy, bytes, { flag: "wx" });
  chmodSync(copy, 0o644);
  walk.files.push({ path, digest: hash("sha256", bytes) });
}

/** The bytes of a file, also through a link to another file of the folder; nothing for what is no file. */
function readSource(walk: Walk, path: string): Uint8Array | undefined {
  let real: string;
  try {
    real = realpathSync(join(walk.root, path));
  } catch {
    return undefined;
  }
  if (!real.startsWith(walk.root + sep)) {
    // Only what the build needs must be there; the compiler sees nothing of what lies outside.
    if (path !== walk.source) return undefined;
    refuse(walk, `${quote(path)} is a link that leaves the skill's folder`);
  }
  // Not through a link that was put there meanwhile, and not waiting for a pipe.
  const file = openSync(real, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const facts = fstatSync(file);
    if (!facts.isFile()) return undefined;
    if (facts.size > maxBytes) refuse(walk, `${quote(path)} is larger than ${maxBytes} bytes`);
    return readFileSync(file);
  } finally {
    closeSync(file);
  }
}

function refuse({ source }: Pick<Walk, "source">, reason: string): never {
  throw new KitbagError("build-failed", { source, reason, lines: [] });
}
