import { randomBytes } from "node:crypto";
import {
  appendFileSync,
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";

/** Files by path, with `/`. */
export type FileMap = ReadonlyMap<string, Uint8Array>;

/**
 * Writes a folder so that others see it whole or not at all; until then it stands in `near`. What was there is replaced, and is
 * away only between two renames. Throws what the system says.
 */
export function placeFolder(path: string, files: FileMap, near: string = dirname(path)): void {
  const id = randomBytes(6).toString("hex");
  const draft = join(near, `.new-${id}`);
  const old = join(near, `.old-${id}`);
  try {
    mkdirSync(draft, { recursive: true });
    writeFiles(draft, files);
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

/** Writes files into a folder that nobody else looks at yet. */
export function writeFiles(directory: string, files: FileMap): void {
  for (const [path, bytes] of files) {
    const target = join(directory, path);
    mkdirSync(dirname(target), { recursive: true });
    writeDurably(target, bytes);
  }
}

/** Writes a file so that others see it whole or as it was before. */
export function placeFile(path: string, bytes: Uint8Array): void {
  const draft = `${path}.${randomBytes(6).toString("hex")}~`;
  try {
    mkdirSync(dirname(path), { recursive: true });
    writeDurably(draft, bytes);
    renameSync(draft, path);
    syncFolder(dirname(path));
  } catch (cause) {
    rmSync(draft, { force: true });
    throw cause;
  }
}

/** Adds a line at the end of a file. */
export function appendLine(path: string, line: string): void {
  appendFileSync(path, `${line}\n`, { flush: true });
}

function writeDurably(path: string, bytes: Uint8Array): void {
  const file = openSync(path, "wx", 0o644);
  try {
    writeFileSync(file, bytes);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/** A rename is on disk when its folder is; not every system lets one say so. */
function syncFolder(path: string): void {
  try {
    const folder = openSync(path, "r");
    try {
      fsyncSync(folder);
    } finally {
      closeSync(folder);
    }
  } catch {
    // Then it comes to the disk a little later.
  }
}
