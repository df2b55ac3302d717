import { extname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { Worker } from "node:worker_threads";

import type { CheckpointQuestion } from "./inside/checkpoint.ts";
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
  /** Ends the work in the background. */
  stop(): Promise<void>;
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

/** How long writes must pause before the log is written back into the file. */
const idleMs = 100;

/** Makes the writer of `database`. */
export function createSqliteWriter(database: SqliteDatabase): SqliteWriter {
  const { commit, nextNumber, lastPositions } = createTransactions(database);
  const pending: Pending[] = [];
  /** The newest write to each scope of those that are pending. */
  let lastOf = new Map<string, Pending>();
  const idle = createIdleTimer(() => writeBack(database));
  const checkpoints = createCheckpoints(database);
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
    idle.note();
    checkpoints.note();
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
    stop() {
      idle.stop();
      return checkpoints.stop();
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

/** Calls `work` when writes have paused for a while, and again after the next pause. A write only notes the time. */
function createIdleTimer(work: () => void): { note(): void; stop(): void } {
  let notedAt = performance.now();
  let timer: NodeJS.Timeout | undefined = setTimeout(look, idleMs).unref();

  function look(): void {
    const leftMs = notedAt + idleMs - performance.now();
    if (leftMs > 0) timer = setTimeout(look, Math.ceil(leftMs)).unref();
    else {
      timer = undefined;
      work();
    }
  }

  return {
    note() {
      notedAt = performance.now();
      timer ??= setTimeout(look, idleMs).unref();
    },
    stop() {
      clearTimeout(timer);
    },
  };
}

/** Has the write-ahead log written back into the file while writes continue without a pause. */
interface Checkpoints {
  /** Notes a commit. */
  note(): void;
  /** Ends what is going on. */
  stop(): Promise<void>;
}

/** So many commits are left in the log, which is then some 16 MiB long when each of them was of many callers. */
const commitsBetween = 512;

/** The file of the thread, with the same extension as this file: TypeScript in the source, JavaScript in the build. */
const threadFile = join(import.meta.dirname, "inside", `checkpoint${extname(import.meta.filename)}`);

/**
 * Makes the checkpoints of `database`. A separate thread does most of the work, because a checkpoint in the writing thread would
 * block all writes. It starts when there is much to write back. The little that is committed while it works is written back here:
 * the log restarts from its beginning only when nothing is left.
 */
export function createCheckpoints(database: SqliteDatabase): Checkpoints {
  let thread: Worker | undefined;
  let commits = 0;
  let isBusy = false;
  /** Then the log is written back by a commit, when it has grown long. */
  let isBroken = false;

  function start(): Worker {
    const started = startThread(database.file);
    started.on("message", () => {
      isBusy = false;
      if (database.isOpen()) writeBack(database);
    });
    started.on("error", () => (isBroken = true));
    // After its listeners, which would keep the process alive: a program that never closes its store still ends.
    started.unref();
    return started;
  }

  return {
    note() {
      commits += 1;
      if (isBusy || isBroken || commits < commitsBetween) return;
      commits = 0;
      isBusy = true;
      thread ??= start();
      ask(thread, { isLast: false });
    },
    async stop() {
      isBroken = true;
      if (thread === undefined || thread.threadId === -1) return;
      thread.ref();
      const ended = Promise.withResolvers<unknown>();
      // It also ends when it could not begin.
      thread.once("exit", ended.resolve);
      ask(thread, { isLast: true });
      await ended.promise;
    },
  };
}

/** Writes the log back. If that fails, the next commit that needs the space says so. */
function writeBack(database: SqliteDatabase): void {
  try {
    database.exec("PRAGMA wal_checkpoint(PASSIVE)");
  } catch {
    // Nothing is lost: what was acknowledged is in the log.
  }
}

function ask(thread: Worker, question: CheckpointQuestion): void {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
  thread.postMessage(question);
}

function startThread(file: string): Worker {
  const address = pathToFileURL(file);
  // One that was deleted meanwhile is not made anew.
  address.searchParams.set("mode", "rw");
  return new Worker(threadFile, {
    workerData: { address: address.href },
    env: {},
    execArgv: ["--disable-warning=ExperimentalWarning"],
    stdout: true,
    stderr: true,
  });
}
