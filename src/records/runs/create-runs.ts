import { isKitbagError } from "../../core/errors.ts";
import type { JsonValue } from "../../core/json.ts";
import type { JobOptions, ListOptions, LogStore, ReadOptions, Store } from "../../core/store.ts";
import { checkAdd } from "../../store/checks.ts";
import { openRun } from "./open-run.ts";
import { createLeases, type HeldLease, type Leases } from "./run-lease.ts";
import { createRunMarkers, createSweeper, type RunMarkers } from "./run-markers.ts";
import {
  checkEvents,
  type RunEntry,
  type RunEvent,
  type RunRecord,
  streamPrefix,
  toOutcome,
  toRecord,
  toStepKey,
  toStream,
} from "./run-records.ts";
import { startWorker } from "./run-worker.ts";
import type { Run, RunHandler, RunWorker, WorkOptions } from "./run.ts";
import { checkHandler, checkRunId, checkRunsOptions, checkWorkOptions, type RunsOptions } from "./runs-options.ts";

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
 * The runs that are kept in a store. A run is its journal, the stream `run:<id>`: its worker holds a lease, and a worker that lost
 * the lease cannot write.
 *
 * An id is any text of 1 to 1,000 bytes that can be a key.
 */
export interface Runs {
  /**
   * Adds a run for a worker to work on. An existing run that has not ended is queued again: this continues a paused run, or moves a
   * waiting run forward. If a worker has the run, it is queued for when that worker pauses it; the delay begins then. Answers whether
   * the run is new. An added run reaches its end even if the queue loses it, as long as there is a worker.
   */
  add(runId: string, options?: AddRunOptions): Promise<boolean>;
  /**
   * Takes the lease of a run; an unknown id begins a new run.
   *
   * @throws {KitbagError} `run-leased` if another worker has the lease, `run-ended` if the run has ended.
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
  const { log } = store;
  const open = (runId: string, events?: readonly RunEvent[]): ReturnType<typeof openRun> =>
    openRun({ log, leases, worker, leaseMs, clock }, runId, events);

  return {
    async add(runId, { events = [], ...jobOptions } = {}) {
      checkRunId(runId);
      checkEvents(events);
      // Checked before anything is written: otherwise the run would exist without a job, and no worker would find it.
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

/** Writes the first lines of a new journal in one commit. Answers `false`, and writes nothing, if the journal exists. */
export async function beginJournal(
  { log }: Pick<Store, "log">,
  runId: string,
  lines: readonly RunEvent[],
): Promise<boolean> {
  checkRunId(runId);
  try {
    await log.append(toStream(runId), [{ type: "run-start" }, ...lines], { expectedPosition: 0 });
    return true;
  } catch (cause) {
    if (isKitbagError(cause, "store-conflict")) return false;
    throw cause;
  }
}

/** The lines of a step that was run, as if this run had run it. */
export function toStepLines(runId: string, step: string, output: JsonValue): readonly RunEvent[] {
  const key = toStepKey(runId, step);
  const intent: RunRecord = { type: "step-intent", step, key, attempt: 1, idempotent: true };
  const outcome: RunRecord = { type: "step-outcome", step, output };
  return [intent, outcome];
}

/** What part of the runs to list. */
export type ListRunsOptions = Omit<ListOptions, "prefix">;

/** A run, as a list shows it. */
export interface RunSummary {
  readonly id: string;
  /**
   * `queued` waits for a worker, `running` has one; `review` has a step that may have happened: see `Run.resolve`. `idle` is every
   * other run that has not ended: paused, or opened without a worker by a process that has died.
   */
  readonly status: "queued" | "running" | "review" | "idle" | "ok" | "failed";
  /** How many lines its journal has. */
  readonly entries: number;
  /** Milliseconds since 1970: when the last line was written. */
  readonly time: number;
  /** The worker that holds the lease, if there is one. */
  readonly lease?: HeldLease;
}

/** What {@link listRuns} looks at. */
interface RunLists {
  readonly log: LogStore;
  readonly leases: Pick<Leases, "find">;
  readonly markers: Pick<RunMarkers, "findQueued">;
}

/** Lists runs in the order of their ids, at most 100 unless a limit is given. */
async function listRuns(lists: RunLists, options: ListRunsOptions = {}): Promise<readonly RunSummary[]> {
  const { after, limit = 100 } = options;
  const streams = await lists.log.streams({
    prefix: streamPrefix,
    limit,
    ...(after !== undefined && after !== "" && { after: toStream(after) }),
  });
  return Promise.all(streams.map((stream) => toSummary(lists, stream.slice(streamPrefix.length))));
}

async function toSummary({ log, leases, markers }: RunLists, id: string): Promise<RunSummary> {
  const stream = toStream(id);
  const entries = await log.position(stream);
  const [[last], lease, queued] = await Promise.all([
    log.read(stream, { after: entries - 1, limit: 1 }),
    leases.find(id),
    markers.findQueued(id),
  ]);
  const record = last && toRecord(last.value);
  const status = toStatus(record, lease !== undefined, queued !== undefined);
  return { id, status, entries, time: last?.time ?? 0, ...(status === "running" && lease && { lease }) };
}

function toStatus(last: RunRecord | undefined, isLeased: boolean, isQueued: boolean): RunSummary["status"] {
  if (last?.type === "run-end") return toOutcome(last).status;
  if (isLeased) return "running";
  if (isQueued) return "queued";
  return last?.type === "lease-end" && last.reason === "review" ? "review" : "idle";
}
