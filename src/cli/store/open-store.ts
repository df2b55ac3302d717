import { lstatSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";

import { KitbagError } from "../../core/errors.ts";
import type { Store } from "../../core/store.ts";
import { memoryStore } from "../../store/memory-store.ts";
import type { StoreChoice, StoreFile } from "./choose-store.ts";

/** A store that is kept somewhere: one that this program can open. */
export type OpenableChoice = Exclude<StoreChoice, { readonly kind: "none" }>;

/**
 * Opens a store, and makes it if it is not there.
 *
 * @throws {KitbagError} `store-unavailable`, `store-newer`, `package-missing`
 */
export async function openStore(choice: OpenableChoice): Promise<Store> {
  if (choice.kind === "memory") return memoryStore();
  if (choice.kind === "postgres") {
    const { postgresStore } = await import("../../store/postgres/postgres-store.ts");
    return postgresStore({ url: choice.url });
  }
  checkNoLink(choice.file);
  if (choice.folder !== undefined) makeOwnFolder(choice.file, choice.folder);
  hideSqliteWarning();
  const { sqliteStore } = await import("../../store/sqlite/sqlite-store.ts");
  return sqliteStore({ file: choice.file });
}

/** The folder of the notes about backups that are being written: in the person's own folder, so that no project brings one. */
export function toCopyNotes(home: string): string {
  return join(home, "copies");
}

/** Opens a store to look at it. One that is not there is empty, and is not made. */
export async function openStoreToRead(choice: OpenableChoice): Promise<Store> {
  return choice.kind === "sqlite" && isMissing(choice.file) ? memoryStore() : openStore(choice);
}

/** A path that cannot be read counts as existing: opening it then reports what is wrong. */
function isMissing(file: string): boolean {
  try {
    lstatSync(file);
    return false;
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    return code === "ENOENT" || code === "ENOTDIR";
  }
}

/** A downloaded project could have a link there, to any file of the user. */
function checkNoLink(file: string): void {
  if (!isLink(file)) return;
  throw new KitbagError("store-unavailable", {
    store: file,
    reason: "it is a link",
    cure: "remove it, or name the file itself with --store sqlite:FILE",
    mayBeWritten: false,
  });
}

function isLink(path: string): boolean {
  try {
    return lstatSync(path).isSymbolicLink();
  } catch {
    // Opening it tells what is wrong with its path.
    return false;
  }
}

/** Records are of this machine; skills and tools in the folder belong to the project. */
const ignored =
  "# Records of this machine, kept by Kitbag. Skills and tools belong to the project.\n/*\n!/skills/\n!/skill-versions/\n!/tools/\n";

function makeOwnFolder(file: string, folder: string): void {
  try {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, ".gitignore"), ignored, { flag: "wx" });
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    if (code === "EEXIST" && lstatSync(folder).isDirectory()) return;
    const details = { store: file, reason: message, cure: "make its folder yours, or name another with --store" };
    throw new KitbagError("store-unavailable", { ...details, mayBeWritten: false }, { cause });
  }
}

/** Every file of a store: also what a repair or a new version of Kitbag has left beside it. */
export function findStoreFiles(choice: Pick<StoreFile, "file">): readonly string[] {
  const folder = dirname(choice.file);
  const beside = listFolder(folder).filter((name) => name.startsWith(basename(choice.file)));
  return [...new Set([...toStoreFiles(choice), ...beside.map((name) => join(folder, name))])];
}

function listFolder(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    // Opening the store tells what is wrong with its folder.
    return [];
  }
}

/** The files that a store in a file consists of. */
export function toStoreFiles({ file }: Pick<StoreFile, "file">): readonly string[] {
  return ["", "-wal", "-shm", "-journal"].map((end) => file + end);
}

/** What Node 22 says whenever its SQLite is loaded. */
const warning = /^SQLite is an experimental feature/u;

type EmitWarning = (this: NodeJS.Process, ...words: unknown[]) => void;

let isHidden = false;

/** Keeps Node 22 from telling everybody who keeps a record that its SQLite may change. Every other warning is shown. */
export function hideSqliteWarning(): void {
  if (isHidden) return;
  isHidden = true;
  const emit = process.emitWarning as EmitWarning;
  const emitOther: EmitWarning = (...words) => {
    if (!warning.test(String(words[0]))) emit.apply(process, words);
  };
  process.emitWarning = emitOther;
}
