import { randomUUID } from "node:crypto";
import { existsSync, lstatSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { DatabaseSync } from "node:sqlite";

import { isBusy, isDamage, isNotAllowed, retryWhileBusy, toUnavailable } from "./sqlite-errors.ts";

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
 * Says where to write the copy of the store at `file` that will be at `to`. A note in the folder `notes` names the place until the copy
 * ends. The note is a database that this process keeps locked: the kernel frees the lock when the process ends, however it ends.
 */
export async function beginCopy(file: string, to: string, notes: string): Promise<UnfinishedCopy> {
  const { DatabaseSync: Database } = await import("node:sqlite");
  const id = randomUUID();
  const note = join(notes, noteStart + id);
  const path = to + toCopyEnd(id);
  let held: DatabaseSync | undefined;
  function end(): void {
    held?.close();
    removeDatabase(path);
    removeDatabase(note);
  }
  try {
    mkdirSync(notes, { recursive: true, mode: 0o700 });
    const database = new Database(note, { timeout: 0 });
    held = database;
    await retryWhileBusy(() =>
      database.exec("PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = MEMORY; CREATE TABLE copy (path TEXT)"),
    );
    database.prepare("INSERT INTO copy VALUES (?)").run(path);
  } catch (cause) {
    end();
    // Where nothing may be written, the copy is made without a note.
    if (!isNotAllowed(cause) && !isForbidden(cause)) throw toUnavailable(file, cause);
  }
  return { path, end };
}

function isForbidden(cause: unknown): boolean {
  return ["EACCES", "EPERM", "EROFS"].includes(String((cause as NodeJS.ErrnoException).code));
}

/**
 * Deletes the unfinished copies whose processes are gone, by the notes in a folder. A note says which file to delete, so the folder must
 * be one that only this user writes to, never that of a project.
 */
export async function removeLeftCopies(notes: string): Promise<void> {
  const names = existsSync(notes) ? readdirSync(notes).filter((name) => isNote(notes, name)) : [];
  if (names.length === 0) return;
  const { DatabaseSync: Database } = await import("node:sqlite");
  for (const name of names) {
    const note = join(notes, name);
    try {
      const path = readNote(note, Database);
      // Other files than copies stay, whatever a note says.
      if (path?.endsWith(toCopyEnd(name.slice(noteStart.length)))) removeDatabase(path);
      removeDatabase(note);
    } catch (cause) {
      // Its process still writes the copy.
      if (!isBusy(cause)) throw cause;
    }
  }
}

const noteStart = "copy-";
const notePattern = /^copy-[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/u;

/** Tells whether `name` is a note that this user wrote, and not a folder or a pipe of that name. */
function isNote(notes: string, name: string): boolean {
  if (!notePattern.test(name)) return false;
  const found = lstatSync(join(notes, name), { throwIfNoEntry: false });
  return found?.isFile() === true && (process.getuid === undefined || found.uid === process.getuid());
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

function toCopyEnd(id: string): string {
  return `.${id}.tmp`;
}
