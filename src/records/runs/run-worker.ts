import { describeCause, isKitbagError } from "../../core/errors.ts";
import type { Job, Queue } from "../../core/store.ts";
import type { Clock } from "../../platform/clock.ts";
import type { OpenedRun } from "./open-run.ts";
import type { QueuedJob, RunMarkers, Sweeper } from "./run-markers.ts";
import type { RunFailure } from "./run-records.ts";
import type { RunHandler, RunWorker, WorkOptions } from "./run.ts";

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
  /** Aborts the signals of all runs, also of those that are being opened. */
  stop(): void;
  /** Resolves when no run is left. */
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

/** What working on runs needs. */
interface WorkContext {
  readonly queue: Queue;
  readonly markers: RunMarkers;
  readonly clock: Clock;
  readonly leaseMs: number;
  readonly handler: RunHandler;
  readonly options: Required<WorkOptions>;
  open(runId: string): Promise<OpenedRun>;
  /** Called with each run that was opened, so that it can be stopped. */
  onOpened(opened: OpenedRun): void;
  isStopping(): boolean;
}

/** What happens to the job next: it is done, it is retried after `againMs`, or another worker has taken over the run. */
type Next = "done" | "lost" | { readonly againMs: number };

const longestDelayMs = 60_000;

/** Works on one run, from its job in the queue if there is one. Rejects only if the store does. */
async function workOnRun(context: WorkContext, runId: string, job: Job | undefined): Promise<void> {
  const heart = job && keepJob(context, job);
  try {
    const next = await tryRun(context, runId);
    if (next === "lost") return;
    if (next === "done") await finish(context, runId, job);
    else await putBack(context, { runId, job, delayMs: Math.round(next.againMs) });
  } finally {
    heart?.cancel();
  }
}

async function tryRun(context: WorkContext, runId: string): Promise<Next> {
  let opened: OpenedRun;
  try {
    opened = await context.open(runId);
  } catch (cause) {
    if (isKitbagError(cause, "run-leased")) return { againMs: context.options.pollMs };
    if (!isKitbagError(cause, "run-ended")) throw cause;
    await context.markers.remove(runId);
    return "done";
  }
  try {
    const priority = await context.markers.setRunning(runId);
    context.onOpened(opened);
    await handle(context, opened);
    return await settle(context, opened, priority);
  } finally {
    // After any failure: an unused lease must not be renewed.
    opened.abandon();
  }
}

async function handle(context: WorkContext, opened: OpenedRun): Promise<void> {
  const { run } = opened;
  const { maxAttempts } = context.options;
  try {
    if (run.attempt > maxAttempts) {
      const message = `Cannot finish the run: it was taken up ${maxAttempts} times and did not end`;
      await run.end({ status: "failed", error: { message } });
      return;
    }
    const output = await context.handler(run);
    if (opened.left() === undefined) await run.end({ status: "ok", output: output ?? null });
  } catch (cause) {
    if (opened.left() === undefined) await leave(context, opened, cause);
    else context.options.onError(cause);
  }
}

/** Gives back a run whose handler threw. */
async function leave(context: WorkContext, opened: OpenedRun, thrown: unknown): Promise<void> {
  const { run } = opened;
  try {
    if (isKitbagError(thrown, "step-uncertain") && thrown.details.run === run.id) await opened.leave("review");
    else if (context.isStopping()) await opened.leave("released");
    else if (run.attempt < context.options.maxAttempts) await opened.leave("failed", toFailure(thrown));
    else await run.end({ status: "failed", error: toFailure(thrown) });
  } catch (cause) {
    if (!isKitbagError(cause, "lease-lost")) throw cause;
  }
}

function toFailure(cause: unknown): RunFailure {
  const message = describeCause(cause);
  return isKitbagError(cause) ? { code: cause.code, message } : { message };
}

async function settle(context: WorkContext, { run, left }: OpenedRun, priority: number): Promise<Next> {
  const { markers, options } = context;
  const delayMs = Math.min(longestDelayMs, options.retryDelayMs * 2 ** (run.attempt - 1));
  switch (left()) {
    case undefined:
      return "lost";
    case "ended":
      await markers.remove(run.id);
      return "done";
    case "paused":
    case "review":
      await markers.removeRunning(run.id);
      return "done";
    case "released":
      return queueAgain(context, run.id, { delayMs: 0, priority });
    case "failed":
      return queueAgain(context, run.id, { delayMs, priority });
  }
}

async function queueAgain({ markers }: WorkContext, runId: string, job: QueuedJob): Promise<Next> {
  const { delayMs } = await markers.setQueued(runId, job);
  await markers.removeRunning(runId);
  return { againMs: delayMs };
}

async function finish({ queue, markers }: WorkContext, runId: string, job: Job | undefined): Promise<void> {
  if (job) await unlessJobLost(queue.complete(job));
  // The run may have been added again while it was being worked on; the queue already had its job and ignored that.
  const queued = await markers.findQueued(runId);
  if (queued) await queue.add(runId, queued);
}

interface PutBack {
  readonly runId: string;
  readonly job: Job | undefined;
  readonly delayMs: number;
}

async function putBack({ queue, markers }: WorkContext, { runId, job, delayMs }: PutBack): Promise<void> {
  if (job) return unlessJobLost(queue.release(job, { delayMs }));
  const queued = await markers.findQueued(runId);
  await queue.add(runId, { ...queued, delayMs });
}

/** Ignores `job-lost`: the journal decides about the run, not the queue. */
async function unlessJobLost(write: Promise<void>): Promise<void> {
  await write.catch((cause: unknown) => {
    if (!isKitbagError(cause, "job-lost")) throw cause;
  });
}

/** Renews the lease of a job. If that fails, the job is delivered again, and finds that the run is leased. */
function keepJob({ queue, clock, leaseMs }: WorkContext, job: Job): { cancel(): void } {
  let isKept = true;
  let stopTimer: () => void;

  function schedule(): void {
    if (!isKept) return;
    stopTimer = clock.after(
      leaseMs / 3,
      () =>
        void queue
          .extend(job, leaseMs)
          .catch(() => undefined)
          .then(schedule),
      { unref: true },
    );
  }

  schedule();
  return {
    cancel() {
      isKept = false;
      stopTimer();
    },
  };
}
