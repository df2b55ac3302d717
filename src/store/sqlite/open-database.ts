import { accessSync, closeSync, constants, existsSync, openSync, statSync } from "node:fs";
import { dirname } from "node:path";
import type { DatabaseSync, StatementSync } from "node:sqlite";
import { pathToFileURL } from "node:url";

import { KitbagError } from "../../core/errors.ts";
import { makeFolders } from "../../platform/home.ts";
import { checkReadable, isUpToDate, migrate } from "./migrate.ts";
import { type Schema, schema as currentSchema } from "./schema.ts";
import { isNotAllowed, retryWhileBusy, sqliteError, toUnavailable } from "./sqlite-errors.ts";

/** An open file of ours. Its methods throw what SQLite throws. */
export interface SqliteDatabase {
  readonly file: string;
  readonly version: number;
  /** The statement for this text, made once. */
  sql(text: string): StatementSync;
  /** The one number that this query answers with, if it answers with any. */
  number(text: string, ...values: readonly (string | number)[]): number | undefined;
  exec(text: string): void;
  isOpen(): boolean;
  /** Takes back what was written since the transaction began. */
  rollback(): void;
  /** Has `listener` called when something was taken back. */
  onRollback(listener: () => void): void;
  /** Makes sure that the file is still where it was, and that it can be written if it could not when it was opened. */
  checkFile(): void;
  close(): void;
}

/** How large the file of the write-ahead log stays: SQLite writes it back into the database each thousand pages, unless a reader holds it. */
const mostLogBytes = 32 * 1024 * 1024;

/**
 * How every file is opened: SQLite does not wait itself, nothing in the file can call a function that has effects, and no statement
 * can change how the file is laid out.
 */
const careful = { timeout: 0, defensive: true } as const;

/** Said to every connection: nothing that the file defines is run. */
const distrust = "PRAGMA trusted_schema = OFF";

const settings = `
  ${distrust};
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = FULL;
  PRAGMA journal_size_limit = ${mostLogBytes};
  PRAGMA cache_size = -16384;
  PRAGMA temp_store = MEMORY;
`;

type Open = typeof DatabaseSync;

/**
 * Opens the file, makes it if it is not there, and brings its tables up to date. One that may only be read is opened for reading;
 * it is written as soon as it may be.
 *
 * @throws {KitbagError} `store-unavailable` or `store-newer`
 */
export async function openDatabase(file: string, schema: Schema = currentSchema): Promise<SqliteDatabase> {
  const { DatabaseSync: Database } = await import("node:sqlite");
  try {
    return toDatabase(file, schema, Database, { ...(await openWritable(file, schema, Database)) });
  } catch (cause) {
    if (!isNotAllowed(cause) || !existsSync(file)) throw toUnavailable(file, cause);
  }
  try {
    const connection = await openReadable(file);
    checkReadable(file, connection, schema);
    isUpToDate(file, connection, schema);
    return toDatabase(file, schema, Database, { connection, isWritable: false });
  } catch (cause) {
    throw toUnavailable(file, cause);
  }
}

interface State {
  connection: DatabaseSync;
  isWritable: boolean;
}

async function openWritable(file: string, schema: Schema, Database: Open): Promise<State> {
  // For their owner alone: what is kept may be private.
  makeFolders(dirname(file));
  // Only if the file is missing: closing a file releases every lock that this process has on it.
  if (!existsSync(file)) closeSync(openSync(file, "a", 0o600));
  if (statSync(file).isDirectory()) throw Object.assign(new Error("it is a folder"), { code: "EISDIR" });
  const connection = new Database(file, careful);
  try {
    connection.exec(distrust);
    // Before anything is set: a file that is refused stays as it is.
    const isCurrent = await retryWhileBusy(() => isUpToDate(file, connection, schema));
    await retryWhileBusy(() => connection.exec(settings));
    if (!isCurrent) await migrate(file, connection, schema);
    return { connection, isWritable: true };
  } catch (cause) {
    connection.close();
    throw cause;
  }
}

function toDatabase(file: string, schema: Schema, Database: Open, state: State): SqliteDatabase {
  const statements = createStatements(state);
  const listeners: (() => void)[] = [];
  const { dev, ino } = statSync(file);

  function becomeWritable(): void {
    try {
      for (const path of [file, dirname(file)]) accessSync(path, constants.W_OK);
    } catch (cause) {
      throw sqliteError("readOnly", "it may only be read", { cause });
    }
    const connection = new Database(file, careful);
    connection.exec(settings);
    statements.forget();
    state.connection.close();
    Object.assign(state, { connection, isWritable: true });
  }

  return {
    file,
    version: schema.version,
    sql: statements.find,
    number(text, ...values) {
      const row = statements.findLists(text).get(...values) as unknown as readonly (number | null)[] | undefined;
      return row?.[0] ?? undefined;
    },
    exec: (text) => state.connection.exec(text),
    isOpen: () => state.connection.isOpen,
    rollback() {
      if (state.connection.isTransaction) state.connection.exec("ROLLBACK");
      for (const listener of listeners) listener();
    },
    onRollback: (listener) => void listeners.push(listener),
    checkFile() {
      const found = statSync(file, { throwIfNoEntry: false });
      if (found?.ino !== ino || found.dev !== dev) throw movedError(file);
      if (!state.isWritable) becomeWritable();
    },
    close() {
      statements.forget();
      if (state.connection.isOpen) state.connection.close();
    },
  };
}

/** The statements of a connection, each made once. */
interface Statements {
  find(text: string): StatementSync;
  /** One whose rows are lists: each row that is an object has a hidden class of its own, which costs more than what it says. */
  findLists(text: string): StatementSync;
  forget(): void;
}

function createStatements(state: State): Statements {
  const known = new Map<string, StatementSync>();
  const withLists = new Map<string, StatementSync>();

  function findIn(statements: Map<string, StatementSync>, text: string): StatementSync {
    let statement = statements.get(text);
    if (statement !== undefined) return statement;
    statement = state.connection.prepare(text);
    if (statements === withLists) statement.setReturnArrays(true);
    statements.set(text, statement);
    return statement;
  }

  return {
    find: (text) => findIn(known, text),
    findLists: (text) => findIn(withLists, text),
    forget() {
      known.clear();
      withLists.clear();
    },
  };
}

function movedError(file: string): KitbagError {
  return new KitbagError("store-unavailable", {
    store: file,
    reason: "the file was moved, deleted or replaced while it was open",
    cure: "put it back, or open the store anew",
    mayBeWritten: false,
  });
}

/** Opens a file to read it only, also one that may not be written. Throws what SQLite throws. */
export async function openReadable(file: string): Promise<DatabaseSync> {
  const { DatabaseSync: Database } = await import("node:sqlite");
  const connection = new Database(file, { ...careful, readOnly: true });
  try {
    connection.exec(`${distrust}; SELECT count(*) FROM sqlite_schema`);
    return connection;
  } catch (cause) {
    connection.close();
    // SQLite wants to make its index beside the file. Without a log nothing can be missed, so it is told that the file is immutable.
    if (!isNotAllowed(cause) || hasLog(file)) throw cause;
    const immutable = new Database(`${pathToFileURL(file).href}?immutable=1`, { ...careful, readOnly: true });
    immutable.exec(distrust);
    return immutable;
  }
}

function hasLog(file: string): boolean {
  return (statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0;
}
