import { extname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { Worker } from "node:worker_threads";

import type { CheckpointQuestion } from "./inside/checkpoint.ts";
import type { SqliteDatabase } from "./open-database.ts";

/** Has the write-ahead log written back into the file while somebody writes without a pause. */
export interface Checkpoints {
  /** Takes note that something was committed. */
  note(): void;
  /** Ends what is going on. */
  stop(): Promise<void>;
}

/** So many commits are left in the log, which is then some 16 MiB long when each of them was of many callers. */
const commitsBetween = 512;

/** Beside this file, and written like it: TypeScript in the source, JavaScript when it was built. */
const threadFile = join(import.meta.dirname, "inside", `checkpoint${extname(import.meta.filename)}`);

/**
 * Makes the checkpoints of `database`. A thread of their own does most of the work, because the one that writes would stand still
 * meanwhile, and everybody who waits for it. It is started when there is much to write. The little that is committed while it works
 * is written back here: only when nothing is left does the log begin anew.
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
export function writeBack(database: SqliteDatabase): void {
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
