import { isKitbagError } from "../../core/errors.ts";
import type { Job } from "../../core/store.ts";
import type { OpenedRun } from "./open-run.ts";
import type { Clock } from "../../platform/clock.ts";
import type { Sweeper } from "./run-sweeper.ts";
import type { RunWorker } from "./run-work.ts";
import { workOnRun, type WorkContext } from "./work-on-run.ts";

/** What a worker needs. */
export interface WorkerOptions extends Omit<WorkContext, "onOpened" | "isStopping"> {
  readonly sweeper: Sweeper;
  /** Has `wake` called when a run was added here; answers with the function that ends it. */
  onAdded(wake: () => void): () => void;
}

const longestSweepMs = 500;

/** Starts a worker: it claims jobs, works on their runs and takes over those whose worker vanished. */
export function startWorker(given: WorkerOptions): RunWorker {
  const { queue, sweeper, clock, leaseMs, options } = given;
  const sweepMs = Math.min(longestSweepMs, leaseMs / 4);
  const nap = createNap(clock);
  const ignore = given.onAdded(nap.wake);
  const active = createActiveRuns(given, nap.wake);
  let isStopping = false;
  let sweptAt = -Infinity;

  async function claim(): Promise<void> {
    const limit = options.concurrency - active.size();
    if (limit <= 0) return;
    for (const job of await queue.claim({ leaseMs, limit })) {
      // It is being worked on here: the job came again because its lease was not prolonged in time.
      if (active.has(job.id)) await queue.release(job, { delayMs: options.pollMs });
      else active.start(job.id, job);
    }
  }

  async function sweep(): Promise<void> {
    if (clock.elapsed() - sweptAt < sweepMs || active.size() >= options.concurrency) return;
    sweptAt = clock.elapsed();
    for (const runId of await sweeper.sweep()) {
      if (active.size() < options.concurrency && !active.has(runId)) active.start(runId, undefined);
    }
  }

  async function loop(): Promise<void> {
    while (!isStopping) {
      try {
        await claim();
        await sweep();
      } catch (cause) {
        options.onError(cause);
        if (isKitbagError(cause, "store-closed")) isStopping = true;
      }
      if (!isStopping) await nap.take(Math.min(options.pollMs, sweepMs));
    }
  }

  const looping = loop();
  return {
    async stop() {
      isStopping = true;
      ignore();
      nap.wake();
      active.stop();
      await looping;
      await active.idle();
    },
  };
}

/** The runs that a worker works on now. */
interface ActiveRuns {
  size(): number;
  has(runId: string): boolean;
  start(runId: string, job: Job | undefined): void;
  /** Aborts the signals of all of them, also of those that are just being opened. */
  stop(): void;
  /** Resolves when there are none. */
  idle(): Promise<void>;
}

function createActiveRuns(given: WorkerOptions, onDone: () => void): ActiveRuns {
  const active = new Map<string, Promise<void>>();
  const opened = new Map<string, OpenedRun>();
  let isStopping = false;

  const context: WorkContext = {
    ...given,
    isStopping: () => isStopping,
    onOpened(run) {
      opened.set(run.run.id, run);
      if (isStopping) run.stop(stopReason());
    },
  };

  async function work(runId: string, job: Job | undefined): Promise<void> {
    try {
      await workOnRun(context, runId, job);
    } catch (cause) {
      given.options.onError(cause);
    }
    active.delete(runId);
    opened.delete(runId);
    onDone();
  }

  return {
    size: () => active.size,
    has: (runId) => active.has(runId),
    start: (runId, job) => void active.set(runId, work(runId, job)),
    stop() {
      isStopping = true;
      for (const run of opened.values()) run.stop(stopReason());
    },
    async idle() {
      await Promise.all(active.values());
    },
  };
}

function stopReason(): Error {
  return new DOMException("The worker is to stop", "AbortError");
}

/** A wait that can be ended, also before it has begun. */
function createNap(clock: Clock): { take(ms: number): Promise<void>; wake(): void } {
  let isAwake = false;
  let end = (): void => undefined;

  return {
    async take(ms) {
      if (!isAwake) {
        await new Promise<void>((resolve) => {
          const stopTimer = clock.after(ms, resolve);
          end = () => {
            stopTimer();
            resolve();
          };
        });
      }
      isAwake = false;
    },
    wake() {
      isAwake = true;
      end();
    },
  };
}
