import type { JobOptions, ReadOptions, Store } from "../../core/store.ts";
import { checkAdd } from "../../store/checks.ts";
import { beginJournal } from "./begin-journal.ts";
import { checkHandler, checkRunId, checkRunsOptions, checkWorkOptions } from "./check-runs.ts";
import { listRuns, type ListRunsOptions, type RunSummary } from "./list-runs.ts";
import { openRun } from "./open-run.ts";
import { createLeases } from "./run-lease.ts";
import { createRunMarkers } from "./run-markers.ts";
import { checkEvents, type RunEntry, type RunEvent, toStream } from "./run-records.ts";
import { createSweeper } from "./run-sweeper.ts";
import type { RunHandler, RunWorker, WorkOptions } from "./run-work.ts";
import { startWorker } from "./run-worker.ts";
import type { Run } from "./run.ts";
import type { RunsOptions } from "./runs-options.ts";

/** How a run is added. */
export interface AddRunOptions extends JobOptions {
  /** What the journal of a new run begins with. */
  readonly events?: readonly RunEvent[];
}

/** How a run is opened. */
export interface OpenOptions {
  /** What the journal of a new run begins with, behind the record of its lease; one commit writes both. */
  readonly events?: readonly RunEvent[];
}

/**
 * The runs that are kept in a store. A run is its journal, the stream `run:<id>`: whoever works on it holds a lease, and whoever lost
 * the lease can write nothing.
 *
 * An id is any text of 1 to 1,000 bytes that can be a key.
 */
export interface Runs {
  /**
   * Adds a run for a worker to work on. One that is there already, and has not ended, is queued again: that is how a paused run goes on,
   * and one that waits comes sooner, or before others. While somebody works on it, it is for when they have paused it: the delay begins
   * then. Answers whether it is new. What is acknowledged here reaches an end, also if the queue loses it, as long as there is a worker.
   */
  add(runId: string, options?: AddRunOptions): Promise<boolean>;
  /**
   * Takes the lease of a run, which is new if nobody knows it.
   *
   * @throws {KitbagError} `run-leased` if somebody else has it, `run-ended` if it has ended.
   */
  open(runId: string, options?: OpenOptions): Promise<Run>;
  /** Reads a journal, without a lease. */
  read(runId: string, options?: ReadOptions): Promise<readonly RunEntry[]>;
  /** Follows a journal, without a lease: see `LogStore.tail`. */
  tail(runId: string, options?: { readonly after?: number; readonly signal?: AbortSignal }): AsyncIterable<RunEntry>;
  /** Lists runs in the order of their ids. */
  list(options?: ListRunsOptions): Promise<readonly RunSummary[]>;
  /** Starts to work on runs that were added, here or elsewhere. */
  work(handler: RunHandler, options?: WorkOptions): RunWorker;
}

/**
 * Makes the runs of a store.
 *
 * @throws {KitbagError} `option-invalid`
 *
 * @example
 * ```ts
 * import { memoryStore } from "kitbag";
 * import { createRuns } from "kitbag/store";
 *
 * const runs = createRuns({ store: memoryStore() });
 * const run = await runs.open("report-1");
 * const pages = await run.step("count", { idempotent: true }, () => 42);
 * await run.append([{ type: "report-written", pages }]);
 * await run.end({ status: "ok", output: pages });
 *
 * const journal = await runs.read("report-1");
 * console.assert(journal.map(({ value }) => value.type).join() === "lease-start,step-intent,step-outcome,report-written,run-end");
 * ```
 */
export function createRuns(options: RunsOptions): Runs {
  const { store, worker, leaseMs, queue, clock } = checkRunsOptions(options);
  const markers = createRunMarkers(store.kv);
  const leases = createLeases({ kv: store.kv, worker, leaseMs, clock });
  const wakes = new Set<() => void>();
  const { log, kv } = store;
  const open = (runId: string, events?: readonly RunEvent[]): ReturnType<typeof openRun> =>
    openRun({ log, kv, leases, worker, leaseMs, clock }, runId, events);

  return {
    async add(runId, { events = [], ...jobOptions } = {}) {
      checkRunId(runId);
      checkEvents(events);
      // Before anything is written: it would be there, and nobody would work on it.
      const job = checkAdd(runId, jobOptions);
      const isNew = await beginJournal(store, runId, events);
      if (!isNew && (await hasEnded(store, runId))) return false;
      await markers.setQueued(runId, job);
      await queue.add(runId, job);
      for (const wake of wakes) wake();
      return isNew;
    },
    async open(runId, { events = [] } = {}) {
      checkRunId(runId);
      checkEvents(events);
      return (await open(runId, events)).run;
    },
    async read(runId, options) {
      checkRunId(runId);
      return (await store.log.read(toStream(runId), options)) as readonly RunEntry[];
    },
    tail: (runId, options) => store.log.tail(toStream(runId), options) as AsyncIterable<RunEntry>,
    list: (options) => listRuns({ log: store.log, leases, markers }, options),
    work(handler, options) {
      checkHandler(handler);
      return startWorker({
        queue,
        markers,
        clock,
        leaseMs,
        handler,
        options: checkWorkOptions(options),
        open,
        sweeper: createSweeper({ queue, markers, leases, leaseMs, clock }),
        onAdded(wake) {
          wakes.add(wake);
          return () => wakes.delete(wake);
        },
      });
    },
  };
}

async function hasEnded({ log }: Store, runId: string): Promise<boolean> {
  const position = await log.position(toStream(runId));
  const [last] = await log.read(toStream(runId), { after: Math.max(0, position - 1), limit: 1 });
  return (last?.value as RunEvent | undefined)?.type === "run-end";
}
