import type { JsonValue } from "../../core/json.ts";
import type { Run } from "./run.ts";

/**
 * Works on a run. What it returns is the output that the run ends with, unless it has ended or paused the run itself. If it throws,
 * the run is tried again later; each step whose outcome is recorded is then answered from the journal.
 */
export type RunHandler = (run: Run) => JsonValue | void | Promise<JsonValue | void>;

/** How a worker works. */
export interface WorkOptions {
  /** How many runs at the same time. @default 1 */
  readonly concurrency?: number;
  /** How often to look for runs that somebody else added; those that were added here start at once. @default 500 */
  readonly pollMs?: number;
  /** How often a run is taken up before it ends as failed, also if its worker vanished each time. @default 3 */
  readonly maxAttempts?: number;
  /** How long a run waits after its first failure; twice as long after each further one, up to a minute. @default 1000 */
  readonly retryDelayMs?: number;
  /** Told what went wrong beside the handlers: the worker goes on, unless the store is closed. Must not throw. */
  readonly onError?: (cause: unknown) => void;
}

/** A worker that is at work. */
export interface RunWorker {
  /** Takes no further run, aborts the signals of those it has, waits for their handlers and gives them back. */
  stop(): Promise<void>;
}
