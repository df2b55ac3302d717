import { describeCause, isKitbagError, KitbagError } from "../../core/errors.ts";
import type { JsonObject } from "../../core/json.ts";
import type { LogEntry, LogStore } from "../../core/store.ts";
import type { Clock } from "../../platform/clock.ts";
import { createJournal, type Journal, readAll } from "./run-journal.ts";
import type { Lease, Leases } from "./run-lease.ts";
import {
  checkEvents,
  checkOutcome,
  type LeaseEnd,
  type RunEntry,
  type RunEvent,
  type RunFailure,
  type RunOutcome,
  type RunRecord,
  toStream,
} from "./run-records.ts";
import { createJournalState, createSteps, type JournalState } from "./run-steps.ts";
import type { Run } from "./run.ts";

/** What {@link openRun} needs. */
export interface OpenRunOptions {
  readonly log: LogStore;
  readonly leases: Leases;
  readonly worker: string;
  readonly leaseMs: number;
  readonly clock: Clock;
}

/** A run, and what only a worker needs of it. */
export interface OpenedRun {
  readonly run: Run;
  /** How the run was released; `undefined` while the lease is held, or if it was lost. */
  left(): LeaseEnd | "ended" | undefined;
  /** Aborts the signal of the run, so that its work stops; the run keeps its lease. */
  stop(reason: Error): void;
  /** Stops writing, and lets the lease expire. */
  abandon(): void;
  /** Gives the run back. */
  leave(reason: LeaseEnd, error?: RunFailure): Promise<void>;
}

/** How often the previous worker may still write before the record of the new lease is in place. */
const maxTries = 100;

/**
 * Takes the lease of a run and reads its journal. If that is empty it begins with `events`.
 *
 * @throws {KitbagError} `run-leased` if another worker has the lease, `run-ended` if the run has ended.
 */
export async function openRun(
  options: OpenRunOptions,
  runId: string,
  events: readonly RunEvent[] = [],
): Promise<OpenedRun> {
  const lease = await options.leases.take(runId);
  try {
    const state = createJournalState();
    const past = await takeJournal(options, { runId, state, events });
    const position = past.length + 1 + (past.length === 0 ? events.length : 0);
    return createRun(options, { runId, lease, state, past, position });
  } catch (cause) {
    await lease.release().catch(() => undefined);
    throw cause;
  }
}

interface Taking {
  readonly runId: string;
  readonly state: JournalState;
  readonly events: readonly RunEvent[];
}

/** Appends the record of the lease to the journal. From then on no other worker can write. */
async function takeJournal({ log, worker }: OpenRunOptions, { runId, state, events }: Taking): Promise<LogEntry[]> {
  const stream = toStream(runId);
  const past: LogEntry[] = [];
  for (let tries = 1; ; tries++) {
    for (const entry of await readAll(log, stream, past.length)) {
      past.push(entry);
      state.add(entry.value);
    }
    if (state.outcome) throw new KitbagError("run-ended", { run: runId });
    const record = { type: "lease-start", epoch: state.epoch + 1, worker } as const;
    try {
      const values = past.length === 0 ? [record, ...events] : [record];
      await log.append(stream, values, { expectedPosition: past.length });
      state.add(record);
      return past;
    } catch (cause) {
      if (!isKitbagError(cause, "store-conflict") || tries === maxTries) throw cause;
    }
  }
}

interface Taken {
  readonly runId: string;
  readonly lease: Lease;
  readonly state: JournalState;
  readonly past: readonly LogEntry[];
  /** Where the journal ends. */
  readonly position: number;
}

function createRun(options: OpenRunOptions, taken: Taken): OpenedRun {
  const { runId, lease, state, position } = taken;
  const controller = new AbortController();
  const journal = createJournal({
    log: options.log,
    stream: toStream(runId),
    runId,
    epoch: state.epoch,
    position,
    onAppended: (value) => state.add(value),
    onLost(cause) {
      heart.cancel();
      controller.abort(cause);
    },
    later: (callback) => void options.clock.after(options.leaseMs / 20, callback),
  });
  const heart = startHeart(options, lease, journal);
  const exit = createExit(taken, journal);
  const { leaseMs, clock } = options;
  const steps = createSteps({ runId, journal, state, signal: controller.signal, leaseMs, clock });
  return {
    run: { ...toRun(taken, journal, exit), signal: controller.signal, ...steps },
    left: exit.left,
    stop: (reason) => controller.abort(reason),
    abandon: () => journal.fence("it was abandoned"),
    leave: exit.giveBack,
  };
}

function toRun({ runId, state, past }: Taken, journal: Journal, exit: Exit): Omit<Run, "signal" | "step" | "resolve"> {
  return {
    id: runId,
    epoch: state.epoch,
    attempt: state.attempt,
    past: past as readonly RunEntry[],
    uncertain: () => state.uncertain(),
    async append(events) {
      checkEvents(events);
      if (state.outcome) throw new KitbagError("run-ended", { run: runId });
      return journal.append(events);
    },
    end: exit.end,
    pause: () => exit.giveBack("paused"),
    async close() {
      if (exit.left() !== undefined) return;
      await exit.giveBack("released").catch((cause: unknown) => {
        if (!isKitbagError(cause, "lease-lost")) throw cause;
      });
    },
  };
}

/** The ways to give a lease back. */
interface Exit {
  left(): LeaseEnd | "ended" | undefined;
  end(outcome: RunOutcome): Promise<void>;
  giveBack(reason: LeaseEnd, error?: RunFailure): Promise<void>;
}

function createExit({ runId, lease, state }: Taken, journal: Journal): Exit {
  const { epoch } = state;
  let left: ReturnType<Exit["left"]>;

  /** Writes the last record under this lease. What was sent before is written before. */
  async function leave(how: LeaseEnd | "ended", record: RunRecord): Promise<void> {
    if (state.outcome) throw new KitbagError("run-ended", { run: runId });
    await journal.close(record as unknown as JsonObject);
    left = how;
    // If this fails, the lease expires.
    await lease.release().catch(() => undefined);
  }

  return {
    left: () => left,
    async end(outcome) {
      checkOutcome(outcome);
      await leave("ended", { type: "run-end", outcome });
    },
    giveBack: (reason, error) => leave(reason, { type: "lease-end", epoch, reason, ...(error && { error }) }),
  };
}

/** How long a lease lasts, and by which clock. */
interface HeartOptions {
  readonly leaseMs: number;
  readonly clock: Clock;
}

/** Prolongs the lease three times in its time, until it is lost or cancelled. */
function startHeart({ leaseMs, clock }: HeartOptions, lease: Lease, journal: Journal): { cancel(): void } {
  let isBeating = true;
  let renewedAt = clock.elapsed();
  let stopTimer: () => void;

  async function beat(): Promise<void> {
    const startedAt = clock.elapsed();
    // A store that does not answer at all must not keep a lease alive.
    const endPatience = clock.after(
      (leaseMs * 2) / 3,
      () => journal.fence(`the store did not answer for ${leaseMs} ms`),
      { unref: true },
    );
    try {
      if ((await lease.renew()) === "doubtful") await journal.append([]);
      renewedAt = startedAt;
    } catch (cause) {
      if (isKitbagError(cause, "run-leased")) {
        journal.fence(`the worker ${JSON.stringify(cause.details.worker)} has taken it over`);
      } else if (clock.elapsed() - renewedAt >= leaseMs) {
        journal.fence(`it could not be renewed for ${leaseMs} ms (${describeCause(cause)})`);
      }
    }
    endPatience();
    if (isBeating) schedule();
  }

  function schedule(): void {
    stopTimer = clock.after(leaseMs / 3, () => void beat(), { unref: true });
  }

  schedule();
  return {
    cancel() {
      isBeating = false;
      stopTimer();
    },
  };
}
