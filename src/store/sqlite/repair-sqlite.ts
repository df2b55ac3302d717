import { closeSync, copyFileSync, existsSync, openSync, rmSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";

import { KitbagError } from "../../core/errors.ts";
import { renameDurably } from "../../platform/files.ts";
import { checkExists } from "./check-sqlite.ts";
import { removeDatabase } from "./left-copies.ts";
import { checkReadable } from "./migrate.ts";
import { openReadable } from "./open-database.ts";
import { salvage, type Salvage } from "./salvage.ts";
import { applicationId, schema } from "./schema.ts";
import { isBusy, isDamage, retryWhileBusy, toUnavailable } from "./sqlite-errors.ts";

/** What {@link repairSqlite} did. */
export interface SqliteRepair extends Salvage {
  readonly file: string;
  /** Where the damaged file is now. */
  readonly damaged: string;
}

/**
 * Saves everything that can be read of the file of an SQLite store into a new one, which takes its place; the old one stays beside
 * it. Entries that cannot be read are replaced by `{ "lost": true }`, so that positions stay what they were; a blob whose bytes
 * are not what its digest says is left out.
 *
 * @throws {KitbagError} `store-unavailable` if another process uses the file, nothing of it can be read, or the new file cannot be
 * written; then the old file is left as it is. `store-newer`
 */
export async function repairSqlite(file: string): Promise<SqliteRepair> {
  checkExists(file);
  const damaged = findFreeName(`${file}.damaged`);
  const repaired = `${file}.repaired`;
  try {
    await checkUnused(file);
    removeDatabase(repaired);
    for (const end of ["", "-wal"]) if (existsSync(file + end)) copyFileSync(file + end, damaged + end);
    const salvaged = await writeSalvage(file, { from: damaged, to: repaired });
    // The log belongs to the old file: it must never be taken for that of the new one.
    for (const end of ["-wal", "-shm"]) rmSync(file + end, { force: true });
    renameDurably(repaired, file);
    return { file, damaged, ...salvaged };
  } catch (cause) {
    removeDatabase(repaired);
    removeDatabase(damaged);
    throw isDamage(cause) ? unreadable(file, cause) : toUnavailable(file, cause);
  }
}

function unreadable(file: string, cause: unknown): KitbagError {
  const reason = "it is no database, or its first page is damaged: nothing of it can be read";
  const cure = "restore a backup, or give the path of another file";
  return new KitbagError("store-unavailable", { store: file, reason, cure, mayBeWritten: false }, { cause });
}

function findFreeName(wanted: string): string {
  for (let count = 1; ; count++) {
    const name = count === 1 ? wanted : `${wanted}-${count}`;
    if (!existsSync(name)) return name;
  }
}

/** A program that has the file open would go on with the old one, and what it writes would be lost. */
async function checkUnused(file: string): Promise<void> {
  const { DatabaseSync: Database } = await import("node:sqlite");
  const database = new Database(file, { timeout: 0 });
  try {
    await retryWhileBusy(() => database.exec("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; ROLLBACK"));
  } catch (cause) {
    // No program can have a file open that SQLite cannot read as a database.
    if (isDamage(cause)) return;
    if (!isBusy(cause)) throw cause;
    throw new KitbagError("store-unavailable", {
      store: file,
      reason: "another program has it open",
      cure: "end all programs that use it, and repair it then",
      mayBeWritten: false,
    });
  } finally {
    database.close();
  }
}

/** Reads a copy of `file`, so that nothing can happen to the file itself. */
async function writeSalvage(
  file: string,
  { from, to }: { readonly from: string; readonly to: string },
): Promise<Salvage> {
  const { DatabaseSync: Database } = await import("node:sqlite");
  const source = await openReadable(from);
  try {
    checkReadable(file, source, schema);
    closeSync(openSync(to, "wx", 0o600));
    const target = new Database(to);
    try {
      return fill(source, target);
    } finally {
      target.close();
    }
  } finally {
    source.close();
  }
}

function fill(source: DatabaseSync, target: DatabaseSync): Salvage {
  target.exec(`PRAGMA synchronous = FULL; BEGIN; ${schema.create}`);
  const salvaged = salvage(source, target);
  target.exec(`PRAGMA user_version = ${schema.version}; PRAGMA application_id = ${applicationId}; COMMIT`);
  return salvaged;
}
