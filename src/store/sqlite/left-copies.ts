import { randomUUID } from "node:crypto";
import { readdirSync, rmSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { DatabaseSync } from "node:sqlite";

import { retryWhileBusy } from "./retry-while-busy.ts";
import { isBusy, isDamage, isNotAllowed, toUnavailable } from "./sqlite-errors.ts";

type Open = typeof DatabaseSync;

/** A copy that is being written. */
export interface UnfinishedCopy {
  /** Where it is written. */
  readonly path: string;
  /** Deletes what is there, if it was not moved, and the note of it. */
  end(): void;
}

/** Deletes the file of a database with all that SQLite keeps beside it. */
export function removeDatabase(file: string): void {
  for (const end of ["", "-journal", "-wal", "-shm"]) rmSync(file + end, { force: true });
}

/**
 * Says where to write the copy of the store at `file` that will be at `to`. A note beside the store names the place until the copy
 * ends. The note is a database that this process keeps locked: the kernel frees the lock when the process ends, however it ends.
 */
export async function beginCopy(file: string, to: string): Promise<UnfinishedCopy> {
  const { DatabaseSync: Database } = await import("node:sqlite");
  const id = randomUUID();
  const note = toNotePrefix(file) + id;
  const path = to + toCopyEnd(id);
  let held: DatabaseSync | undefined;
  function end(): void {
    held?.close();
    removeDatabase(path);
    removeDatabase(note);
  }
  try {
    const database = new Database(note, { timeout: 0 });
    held = database;
    await retryWhileBusy(() =>
      database.exec("PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = MEMORY; CREATE TABLE copy (path TEXT)"),
    );
    database.prepare("INSERT INTO copy VALUES (?)").run(path);
  } catch (cause) {
    end();
    // A store that may only be read is copied without a note.
    if (!isNotAllowed(cause)) throw toUnavailable(file, cause);
  }
  return { path, end };
}

/** Deletes the unfinished copies of the store at `file` whose processes are gone. */
export async function removeLeftCopies(file: string): Promise<void> {
  const folder = dirname(file);
  const prefix = basename(toNotePrefix(file));
  const notes = readdirSync(folder).filter((name) => name.startsWith(prefix));
  if (notes.length === 0) return;
  const { DatabaseSync: Database } = await import("node:sqlite");
  for (const name of notes) {
    const note = join(folder, name);
    try {
      const path = readNote(note, Database);
      // Other files than copies stay, whatever a note says.
      if (path?.endsWith(toCopyEnd(name.slice(prefix.length)))) removeDatabase(path);
      removeDatabase(note);
    } catch (cause) {
      // Its process still writes the copy.
      if (!isBusy(cause)) throw cause;
    }
  }
}

/** The path in a note; `undefined` if its process was killed before it wrote the path, and so before it began the copy. */
function readNote(note: string, Database: Open): string | undefined {
  const database = new Database(note, { timeout: 0 });
  try {
    database.exec("BEGIN EXCLUSIVE");
    const { count } = database.prepare("SELECT count(*) AS count FROM sqlite_schema").get() ?? {};
    return count === 1 ? String(database.prepare("SELECT path FROM copy").get()?.["path"]) : undefined;
  } catch (cause) {
    if (!isDamage(cause)) throw cause;
    return undefined;
  } finally {
    database.close();
  }
}

function toNotePrefix(file: string): string {
  return `${file}.copy-`;
}

function toCopyEnd(id: string): string {
  return `.${id}.tmp`;
}
