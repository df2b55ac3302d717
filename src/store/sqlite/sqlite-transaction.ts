import { isKitbagError, KitbagError } from "../../core/errors.ts";
import type { SqliteDatabase } from "./open-database.ts";
import { isBusy, isIoError, toUnavailable } from "./sqlite-errors.ts";

/** A write that waits for its transaction. */
export interface Write {
  readonly run: () => unknown;
  /** Whether it must be on disk when it is settled. */
  readonly isDurable: boolean;
  resolve(value: unknown): void;
  reject(error: unknown): void;
}

/** Above this many streams they are forgotten, and asked for again. */
const maxPositions = 10_000;

type Outcome = { readonly value: unknown } | { readonly error: unknown };

/** How often to look whether the file is still where it was. */
const lookEveryMs = 50;

/** Runs writes in transactions. */
export interface Transactions {
  /** Commits all of `writes` and settles them. Answers with those it could not write because another connection has the lock. */
  commit(writes: readonly Write[]): readonly Write[];
  /** Inside of a write: a number that was never given before. */
  nextNumber(): number;
  /** Inside of a write: the known ends of streams. No other connection has written since. */
  readonly lastPositions: Map<string, number>;
}

/** Makes the runner of write transactions on `database`. */
export function createTransactions(database: SqliteDatabase): Transactions {
  const begin = createBegin(database);
  const lastPositions = new Map<string, number>();
  const checkContents = createContentsCheck(database, lastPositions);
  let lastNumber: number | undefined;
  let isCommitting = false;

  /** Throws what SQLite throws; then nothing of it is kept. */
  function transact(writes: readonly Write[]): readonly Outcome[] {
    isCommitting = false;
    lastNumber = undefined;
    begin(writes.some(({ isDurable }) => isDurable));
    try {
      checkContents();
      const outcomes = writes.map(runWrite);
      if (lastNumber !== undefined) database.sql("UPDATE counters SET value = ? WHERE name = 'last'").run(lastNumber);
      isCommitting = true;
      database.sql("COMMIT").run();
      return outcomes;
    } catch (cause) {
      database.rollback();
      throw cause;
    }
  }

  function commit(writes: readonly Write[]): readonly Write[] {
    try {
      settle(writes, transact(writes));
      return [];
    } catch (cause) {
      if (isBusy(cause)) return writes;
      const mayBeWritten = isCommitting && isIoError(cause);
      if (writes.length > 1 && !mayBeWritten && !isKitbagError(cause)) return commitEach(writes);
      const error = toUnavailable(database.file, cause, mayBeWritten);
      for (const { reject } of writes) reject(error);
      return [];
    }
  }

  /** One of them may be too large for what is left of the disk: the others must not suffer. */
  function commitEach(writes: readonly Write[]): readonly Write[] {
    for (const [index, write] of writes.entries()) if (commit([write]).length > 0) return writes.slice(index);
    return [];
  }

  return {
    commit,
    lastPositions,
    nextNumber() {
      lastNumber = (lastNumber ?? readLastNumber(database)) + 1;
      return lastNumber;
    },
  };
}

/**
 * Makes a function that begins a transaction, and sets whether its commit waits for the disk. If it does not (`NORMAL`), the
 * operating system holds the data, and the next durable commit syncs it too.
 */
function createBegin(database: SqliteDatabase): (isDurable: boolean) => void {
  const checkFile = createFileCheck(database);
  let isWaiting = true;
  return (isDurable) => {
    if (!database.isOpen()) throw new KitbagError("store-closed", { operation: "a write" });
    checkFile();
    if (isDurable !== isWaiting) database.sql(`PRAGMA synchronous = ${isDurable ? "FULL" : "NORMAL"}`).run();
    isWaiting = isDurable;
    database.sql("BEGIN IMMEDIATE").run();
  };
}

function readLastNumber({ number }: SqliteDatabase): number {
  return Number(number("SELECT value FROM counters WHERE name = 'last'"));
}

/** A refusal concerns one write alone; a failure of SQLite concerns the transaction. */
function runWrite({ run }: Write): Outcome {
  try {
    return { value: run() };
  } catch (cause) {
    if (isKitbagError(cause)) return { error: cause };
    throw cause;
  }
}

function settle(writes: readonly Write[], outcomes: readonly Outcome[]): void {
  for (const [index, outcome] of outcomes.entries()) {
    const write = writes[index];
    if ("error" in outcome) write?.reject(outcome.error);
    else write?.resolve(outcome.value);
  }
}

/** Makes a check that clears the cached positions if another connection has written; that connection may also have changed tables. */
function createContentsCheck(database: SqliteDatabase, lastPositions: Map<string, number>): () => void {
  let known: number | undefined;
  database.onRollback(() => (known = undefined));
  return () => {
    const found = database.number("PRAGMA data_version");
    if (found === known && lastPositions.size < maxPositions) return;
    checkSchema(database);
    lastPositions.clear();
    known = found;
  };
}

/** A newer version of Kitbag may have changed the tables since this one opened the file. */
function checkSchema({ number, file, version }: SqliteDatabase): void {
  const found = Number(number("PRAGMA user_version"));
  if (found !== version) throw new KitbagError("store-newer", { store: file, version: found, newest: version });
}

/** SQLite would go on writing into a file that was deleted, and everything would be lost. */
function createFileCheck(database: SqliteDatabase): () => void {
  let nextLook = 0;
  return () => {
    const now = performance.now();
    if (now < nextLook) return;
    database.checkFile();
    nextLook = now + lookEveryMs;
  };
}
