import { randomUUID } from "node:crypto";

import { KitbagError } from "../../core/errors.ts";
import { showValue } from "../../core/json.ts";
import type { Queue, Store } from "../../core/store.ts";
import { type Clock, machineClock } from "../../platform/clock.ts";
import { checkKey, checkWhole } from "../../store/checks.ts";
import type { RunHandler, WorkOptions } from "./run.ts";

/** What `createRuns` takes. */
export interface RunsOptions {
  readonly store: Store;
  /** The name of this worker, shown to other workers that want the same run. @default a random text */
  readonly worker?: string;
  /** How long a run stays with a worker that no longer responds, at least 30. @default 10000 */
  readonly leaseMs?: number;
  /** Holds the ids of the runs that wait for a worker. @default the queue "runs" of the store */
  readonly queue?: Queue;
  /** @default the clock of the machine */
  readonly clock?: Clock;
}

const shortestLeaseMs = 30;

/**
 * Checks what `createRuns` was given, and fills in what was not said.
 *
 * @throws {KitbagError} `option-invalid`
 */
export function checkRunsOptions(options: RunsOptions): Required<RunsOptions> {
  const { store, worker = randomUUID(), leaseMs = 10_000, clock = machineClock } = options;
  checkWhole("leaseMs", leaseMs, shortestLeaseMs);
  if (typeof worker !== "string" || worker === "") refuse("worker", worker, "a name");
  if (typeof store?.queue !== "function") refuse("store", store, "a store");
  const { queue = store.queue("runs") } = options;
  return { store, worker, leaseMs, queue, clock };
}

/**
 * Checks how a worker is to work, and fills in what was not said.
 *
 * @throws {KitbagError} `option-invalid`
 */
export function checkWorkOptions(options: WorkOptions = {}): Required<WorkOptions> {
  const { concurrency = 1, pollMs = 500, maxAttempts = 3, retryDelayMs = 1000, onError = () => undefined } = options;
  checkWhole("concurrency", concurrency, 1);
  checkWhole("pollMs", pollMs, 1);
  checkWhole("maxAttempts", maxAttempts, 1);
  checkWhole("retryDelayMs", retryDelayMs);
  return { concurrency, pollMs, maxAttempts, retryDelayMs, onError };
}

/**
 * Checks what is to work on runs.
 *
 * @throws {KitbagError} `option-invalid`
 */
export function checkHandler(handler: RunHandler): void {
  if (typeof handler !== "function") refuse("handler", handler, "a function");
}

/** The longest prefix that a run's id gets as a key. */
const longestPrefix = "x".repeat(24);

/**
 * Checks the id of a run.
 *
 * @throws {KitbagError} `store-key-invalid`
 */
export function checkRunId(runId: string): void {
  checkKey(runId);
  checkKey(longestPrefix + runId);
}

function refuse(option: string, found: unknown, expected: string): never {
  throw new KitbagError("option-invalid", { option, found: showValue(found), expected });
}
