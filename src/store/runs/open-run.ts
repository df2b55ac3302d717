import { isKitbagError, KitbagError } from "../../core/errors.ts";
import type { JsonObject } from "../../core/json.ts";
import type { LogEntry, LogStore } from "../../core/store.ts";
import type { RunClock } from "./run-clock.ts";
import { startHeart } from "./run-heart.ts";
import { createJournal, readAll, type Journal } from "./run-journal.ts";
import type { Lease, Leases } from "./run-lease.ts";
import {
  checkEvents,
  checkOutcome,
  toStream,
  type LeaseEnd,
  type RunEntry,
  type RunFailure,
  type RunOutcome,
  type RunRecord,
} from "./run-records.ts";
import { createRunState, type RunState } from "./run-state.ts";
import { createSteps } from "./run-steps.ts";
import type { Run } from "./run.ts";

/** What {@link openRun} needs. */
export interface OpenRunOptions {
  readonly log: LogStore;
  readonly leases: Leases;
  readonly worker: string;
  readonly leaseMs: number;
  readonly clock: RunClock;
}

/** A run, and what only those who work on it on behalf of somebody else need. */
export interface OpenedRun {
  readonly run: Run;
  /** How it was left; `undefined` while the lease is there, or if it was lost. */
  readonly left: LeaseEnd | "ended" | undefined;
  /** Aborts the signal of the run, which keeps its lease: whoever works on it is to stop. */
  stop(reason: Error): void;
  /** Writes nothing any more, and lets the lease run out. */
  abandon(): void;
  /** Gives the run back. */
  leave(reason: LeaseEnd, error?: RunFailure): Promise<void>;
}

/** How often somebody who still writes may come before the new lease. */
const maxTries = 100;

/**
 * Takes the lease of a run and reads its journal.
 *
 * @throws {KitbagError} `run-leased` if somebody else has it, `run-ended` if it has ended.
 */
export async function openRun(options: OpenRunOptions, runId: string): Promise<OpenedRun> {
  const lease = await options.leases.take(runId);
  try {
    const state = createRunState();
    const past = await takeJournal(options, runId, state);
    return createRun(options, { runId, lease, state, past });
  } catch (cause) {
    await lease.release().catch(() => undefined);
    throw cause;
  }
}

/** Writes the record of the lease behind everything that is there. From then on nobody else can write. */
async function takeJournal({ log, worker }: OpenRunOptions, runId: string, state: RunState): Promise<LogEntry[]> {
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
      await log.append(stream, [record], { expectedPosition: past.length });
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
  readonly state: RunState;
  readonly past: readonly LogEntry[];
}

function createRun(options: OpenRunOptions, taken: Taken): OpenedRun {
  const { runId, lease, state, past } = taken;
  const controller = new AbortController();
  const journal = createJournal({
    log: options.log,
    stream: toStream(runId),
    runId,
    epoch: state.epoch,
    position: past.length + 1,
    onAppended: (value) => state.add(value),
    onLost(cause) {
      heart.cancel();
      controller.abort(cause);
    },
  });
  const heart = startHeart(options, lease, journal);
  const exit = createExit(taken, journal);
  const { leaseMs, clock } = options;
  const steps = createSteps({ runId, journal, state, signal: controller.signal, leaseMs, clock });
  return {
    run: { ...toRun(taken, journal, exit), signal: controller.signal, ...steps },
    get left() {
      return exit.left;
    },
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
      if (exit.left !== undefined) return;
      await exit.giveBack("released").catch((cause: unknown) => {
        if (!isKitbagError(cause, "lease-lost")) throw cause;
      });
    },
  };
}

/** The ways to give a lease back. */
interface Exit {
  readonly left: LeaseEnd | "ended" | undefined;
  end(outcome: RunOutcome): Promise<void>;
  giveBack(reason: LeaseEnd, error?: RunFailure): Promise<void>;
}

function createExit({ runId, lease, state }: Taken, journal: Journal): Exit {
  const { epoch } = state;
  let left: Exit["left"];

  /** Writes the last record under this lease. What was sent before is written before. */
  async function leave(how: LeaseEnd | "ended", record: RunRecord): Promise<void> {
    if (state.outcome) throw new KitbagError("run-ended", { run: runId });
    await journal.close(record as unknown as JsonObject);
    left = how;
    // If this fails it runs out by itself.
    await lease.release().catch(() => undefined);
  }

  return {
    get left() {
      return left;
    },
    async end(outcome) {
      checkOutcome(outcome);
      await leave("ended", { type: "run-end", outcome });
    },
    giveBack: (reason, error) => leave(reason, { type: "lease-end", epoch, reason, ...(error && { error }) }),
  };
}
