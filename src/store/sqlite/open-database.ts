import { closeSync, mkdirSync, openSync, statSync } from "node:fs";
import { dirname } from "node:path";
import type { DatabaseSync, StatementSync } from "node:sqlite";

import { KitbagError } from "../../core/errors.ts";
import { migrate } from "./migrate.ts";
import { retryWhileBusy } from "./retry-while-busy.ts";
import { schema as currentSchema, type Schema } from "./schema.ts";
import { toUnavailable } from "./sqlite-errors.ts";

/** An open file of ours. Its methods throw what SQLite throws. */
export interface SqliteDatabase {
  readonly file: string;
  readonly version: number;
  /** The statement for this text, made once. */
  sql(text: string): StatementSync;
  exec(text: string): void;
  isOpen(): boolean;
  isInTransaction(): boolean;
  /** Tells whether another file, or none, is where this one was. */
  isMoved(): boolean;
  close(): void;
}

/** How large the write-ahead log grows while there is no pause in which it can be written back: 32 MiB. */
const pagesBeforeCheckpoint = 8192;

const settings = `
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = FULL;
  PRAGMA wal_autocheckpoint = ${pagesBeforeCheckpoint};
  PRAGMA journal_size_limit = ${pagesBeforeCheckpoint * 4096};
  PRAGMA cache_size = -16384;
  PRAGMA temp_store = MEMORY;
  PRAGMA trusted_schema = OFF;
`;

/**
 * Opens the file, makes it if it is not there, and brings its tables up to date.
 *
 * @throws {KitbagError} `store-unavailable` or `store-newer`
 */
export async function openDatabase(file: string, schema: Schema = currentSchema): Promise<SqliteDatabase> {
  try {
    makeFile(file);
    const { DatabaseSync } = await import("node:sqlite");
    const database = new DatabaseSync(file, { timeout: 0 });
    try {
      await retryWhileBusy(() => database.exec(settings));
      await migrate(file, database, schema);
      return toSqliteDatabase(file, database, schema.version);
    } catch (cause) {
      database.close();
      throw cause;
    }
  } catch (cause) {
    throw toUnavailable(file, cause);
  }
}

/** Makes folder and file for their owner alone: what is kept may be private. */
function makeFile(file: string): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  closeSync(openSync(file, "a", 0o600));
}

function toSqliteDatabase(file: string, database: DatabaseSync, version: number): SqliteDatabase {
  const statements = new Map<string, StatementSync>();
  const { dev, ino } = statSync(file);

  return {
    file,
    version,
    sql(text) {
      const known = statements.get(text);
      if (known) return known;
      const statement = database.prepare(text);
      statements.set(text, statement);
      return statement;
    },
    exec: (text) => database.exec(text),
    isOpen: () => database.isOpen,
    isInTransaction: () => database.isTransaction,
    isMoved() {
      const found = statSync(file, { throwIfNoEntry: false });
      return found?.ino !== ino || found.dev !== dev;
    },
    close() {
      statements.clear();
      if (database.isOpen) database.close();
    },
  };
}

/** The error for a file that was taken away while it was open. */
export function movedError(file: string): KitbagError {
  return new KitbagError("store-unavailable", {
    store: file,
    reason: "the file was moved, deleted or replaced while it was open",
    cure: "put it back, or open the store anew",
    mayBeWritten: false,
  });
}
