import type { DatabaseSync } from "node:sqlite";

import { KitbagError } from "../../core/errors.ts";
import { renameDurably } from "../../platform/files.ts";
import { removeDatabase } from "./left-copies.ts";
import { applicationId, findSchemaDifference, type Schema } from "./schema.ts";
import { retryWhileBusy } from "./sqlite-errors.ts";

/**
 * Tells whether the tables are those of this version. Changes nothing.
 *
 * @throws {KitbagError} `store-unavailable` if the file belongs to something else, or its tables are not ours.
 */
export function isUpToDate(file: string, database: DatabaseSync, schema: Schema): boolean {
  const version = readNumber(database, "user_version");
  if (version === 0 && isEmpty(database)) return false;
  checkOwner(file, database);
  if (version !== schema.version) return false;
  checkTables(file, database, schema);
  return true;
}

/**
 * Makes the tables, or brings those of an older version up to date: all steps in one transaction, after a copy of the file was
 * kept beside it.
 *
 * @throws {KitbagError} `store-newer` if it is of a newer version; `store-unavailable` if it belongs to something else, or its
 * tables are not ours.
 */
export async function migrate(file: string, database: DatabaseSync, schema: Schema): Promise<void> {
  await retryWhileBusy(() => database.exec("BEGIN IMMEDIATE"));
  try {
    bringUpToDate(file, database, schema);
    database.exec("COMMIT");
  } catch (cause) {
    if (database.isTransaction) database.exec("ROLLBACK");
    throw cause;
  }
}

/**
 * Checks that a file is of this version, so that what is in its tables can be read. It may have others.
 *
 * @throws {KitbagError} `store-newer` or `store-unavailable`
 */
export function checkReadable(file: string, database: DatabaseSync, schema: Schema): void {
  checkSomething(file, database);
  checkOwner(file, database);
  const version = readNumber(database, "user_version");
  checkNotNewer(file, version, schema);
  if (version === schema.version) return;
  throw new KitbagError("store-unavailable", {
    store: file,
    reason: "it is of an older version, and may not be written",
    cure: "make it writable once, so that it can be brought up to date",
    mayBeWritten: false,
  });
}

/** Runs under the write lock, which excludes other connections. */
function bringUpToDate(file: string, database: DatabaseSync, schema: Schema): void {
  const version = readNumber(database, "user_version");
  if (version === 0 && isEmpty(database)) {
    database.exec(schema.create);
  } else {
    checkOwner(file, database);
    checkNotNewer(file, version, schema);
    if (version < schema.version) keepCopy(file, database, schema.version);
    for (const step of schema.migrations.slice(version - 1, schema.version - 1)) step(database);
    checkTables(file, database, schema);
  }
  database.exec(`PRAGMA user_version = ${schema.version}; PRAGMA application_id = ${applicationId}`);
}

/** An empty file becomes a store when it is opened to be written. */
function checkSomething(file: string, database: DatabaseSync): void {
  if (readNumber(database, "user_version") !== 0 || !isEmpty(database)) return;
  throw new KitbagError("store-unavailable", {
    store: file,
    reason: "there is nothing in the file",
    cure: "restore a backup, or delete it if there never was anything",
    mayBeWritten: false,
  });
}

/** A database of something else must stay as it is. */
function checkOwner(file: string, database: DatabaseSync): void {
  if (readNumber(database, "application_id") === applicationId) return;
  throw new KitbagError("store-unavailable", {
    store: file,
    reason: "it is a database of another program",
    cure: "give the path of another file",
    mayBeWritten: false,
  });
}

/** A trigger that came with the file would run whenever something is written. */
function checkTables(file: string, database: DatabaseSync, schema: Schema): void {
  const reason = findSchemaDifference(database, schema);
  if (reason === undefined) return;
  throw new KitbagError("store-unavailable", {
    store: file,
    reason,
    cure: `delete the file if it is not yours; else save what is in it: kitbag store repair --store sqlite:${file}`,
    mayBeWritten: false,
  });
}

function checkNotNewer(file: string, version: number, schema: Schema): void {
  if (version > schema.version) throw new KitbagError("store-newer", { store: file, version, newest: schema.version });
}

function keepCopy(file: string, database: DatabaseSync, version: number): void {
  const copy = `${file}.before-v${version}`;
  const half = `${copy}.tmp`;
  removeDatabase(half);
  const { constructor: Database } = Object.getPrototypeOf(database) as { constructor: typeof DatabaseSync };
  // The connection that holds the lock cannot copy; this one sees what was there before.
  const reader = new Database(file, { readOnly: true });
  try {
    reader.prepare("VACUUM INTO ?").run(half);
  } finally {
    reader.close();
  }
  renameDurably(half, copy);
}

function isEmpty(database: DatabaseSync): boolean {
  return database.prepare("SELECT count(*) AS count FROM sqlite_schema").get()?.["count"] === 0;
}

function readNumber(database: DatabaseSync, pragma: string): number {
  return Number(database.prepare(`PRAGMA ${pragma}`).get()?.[pragma]);
}
