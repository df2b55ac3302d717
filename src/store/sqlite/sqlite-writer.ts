import type { SqliteDatabase } from "./open-database.ts";
import { longestBusyMs, sqliteError, toPauseMs, toUnavailable } from "./sqlite-errors.ts";
import { createTransactions, type Write } from "./sqlite-transaction.ts";

/** The one way to write: what is called in one turn of the event loop is committed together. */
export interface SqliteWriter {
  /**
   * Calls `run` in the next transaction, in the order of the calls, and answers when the transaction is on disk, or committed if it
   * need not be durable. `run` may be called again, so it must change only the database. If it throws a `KitbagError`, it must not
   * have changed anything, and the other writes continue. `scope` names what it writes.
   */
  write<Value>(scope: string, run: () => Value, about?: AboutWrite): Promise<Value>;
  /** What ends, without an error, when the writes to `scope`, or to anything, that were called before are done. */
  whenWritten(scope?: string): Promise<unknown> | undefined;
  /** Inside of a write: a number that was never given before, for versions and for the order of jobs. */
  nextNumber(): number;
  /** Inside of a write: the last positions of streams, as far as this transaction has seen them. */
  readonly lastPositions: Map<string, number>;
}

/** What is known of a write. */
export interface AboutWrite {
  /** How much it writes. */
  readonly bytes?: number | undefined;
  /** Whether it must be on disk when it is acknowledged. @default true */
  readonly isDurable?: boolean | undefined;
}

interface Pending extends Write {
  readonly promise: Promise<unknown>;
  readonly scope: string;
  readonly bytes: number;
  readonly calledAt: number;
}

/** A transaction holds up the event loop, so it must not be too large. */
const maxBatch = { writes: 1000, bytes: 8 * 1024 * 1024 };

/** Makes the writer of `database`. */
export function createSqliteWriter(database: SqliteDatabase): SqliteWriter {
  const { commit, nextNumber, lastPositions } = createTransactions(database);
  const pending: Pending[] = [];
  /** The newest write to each scope of those that are pending. */
  let lastOf = new Map<string, Pending>();
  let isScheduled = false;
  let tries = 0;

  function schedule(): void {
    if (isScheduled || pending.length === 0) return;
    isScheduled = true;
    // When all have written that can go on now.
    if (tries === 0) setImmediate(flush);
    else setTimeout(flush, toPauseMs(tries));
  }

  function flush(): void {
    isScheduled = false;
    const locked = commit(takeBatch(pending)) as readonly Pending[];
    tries = locked.length > 0 ? tries + 1 : 0;
    pending.unshift(...locked.filter((write) => isPatient(write, database.file)));
    // What is not pending any more is written, and can be read. A new map: one that is cleared again and again is a chain of all its
    // tables, which the collector of the young holds on to, and everything that was ever in them.
    lastOf = new Map(pending.map((write) => [write.scope, write]));
    schedule();
  }

  return {
    nextNumber,
    lastPositions,
    whenWritten: (scope) => (scope === undefined ? pending.at(-1) : lastOf.get(scope))?.promise.then(ignore, ignore),
    write(scope, run, { bytes = 0, isDurable = true } = {}) {
      const { promise, resolve, reject } = Promise.withResolvers<ReturnType<typeof run>>();
      const write = { promise, scope, run, bytes, isDurable, calledAt: performance.now(), resolve, reject };
      pending.push(write);
      lastOf.set(scope, write);
      schedule();
      return promise;
    },
  };
}

/** Whether a write goes on waiting for the lock. One that has waited too long is told so. */
function isPatient({ calledAt, reject }: Pending, file: string): boolean {
  if (performance.now() - calledAt < longestBusyMs) return true;
  reject(toUnavailable(file, sqliteError("busy", "database is locked")));
  return false;
}

function ignore(): void {}

function takeBatch(pending: Pending[]): readonly Pending[] {
  let bytes = 0;
  const end = pending.slice(0, maxBatch.writes).findIndex((write) => (bytes += write.bytes) > maxBatch.bytes);
  return pending.splice(0, end === -1 ? maxBatch.writes : Math.max(end, 1));
}
