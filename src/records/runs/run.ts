import type { JsonValue } from "../../core/json.ts";
import type { RunEntry, RunEvent, RunOutcome } from "./run-records.ts";

/** Options of a step. */
export interface StepOptions {
  /** Whether the step may run again when it is unknown whether it happened. @default false */
  readonly idempotent?: boolean;
  /**
   * Takes what to wait for until the outcome is on disk; it rejects if that cannot be. With it the step answers before: its outcome is
   * written together with what is appended next, or when the event loop has turned, and nothing that is appended later is written
   * without it. Nothing that follows from it may count before. Not called for a step that was run before.
   */
  readonly onSent?: (kept: Promise<void>) => void;
}

/** What a step's work is given. */
export interface StepContext {
  /**
   * `run:step`, the same each time that the step is run, and of no other step: services that take such a key do the work once. In the
   * run's id ":" is written "%3A", and "%" as "%25".
   */
  readonly key: string;
  /** How often the step was started, including this time: at least 1. */
  readonly attempt: number;
  /** Aborted when the lease is lost, or the run must stop. */
  readonly signal: AbortSignal;
}

/** Resolves a step that may have happened: its output, or `"again"` to run it again. */
export type StepResolution = { readonly output: JsonValue } | "again";

/**
 * A run whose lease this worker holds. No other worker can write to its journal; once another worker has taken over, this one
 * cannot write any more. The lease is renewed automatically until `end`, `pause` or `close` releases it.
 *
 * **Contract**: execution at least once, the recorded outcome exactly once. A step whose outcome is recorded never runs again; one
 * that was interrupted may have happened, and runs again only if it is idempotent.
 *
 * @throws {KitbagError} every method that writes: `lease-lost` if the lease is lost or released, with nothing written; `run-ended`
 * after `end`; and what the store throws.
 */
export interface Run {
  readonly id: string;
  /** The number of this lease of the run, counted from 1. */
  readonly epoch: number;
  /** How many attempts the run has had without success, including this one: at least 1. */
  readonly attempt: number;
  /** The journal up to this lease, the oldest entry first. */
  readonly past: readonly RunEntry[];
  /** Aborted when the lease is lost or released, or the worker must stop. */
  readonly signal: AbortSignal;
  /** The steps of which it is unknown whether they happened. */
  uncertain(): readonly string[];
  /**
   * Appends all of the events or none, and answers with the position of the last one. You need not wait for one append before the
   * next: they are written in the order of the calls, and appends of the same tick are written together.
   *
   * @throws {KitbagError} `option-invalid` for an event without a type, or with one of Kitbag's own.
   */
  append(events: readonly RunEvent[]): Promise<number>;
  /**
   * Runs `work`, or answers with its recorded output if it ran before. The intent to run is on disk before `work` starts, which also
   * proves that the lease is still held; the output is on disk before this resolves, unless `onSent` is given.
   *
   * The answer is a copy of what `work` returned, as JSON; `null` for nothing. If `work` throws, nothing is recorded and it is
   * unknown whether the step happened: return known failures as data. Steps may run at the same time; concurrent calls of one
   * step run it once.
   *
   * @throws {KitbagError} `step-uncertain` if it may have happened and is not idempotent: see {@link Run.resolve};
   * `store-value-invalid` if `work` returned a value that is not JSON.
   */
  step<Output>(
    name: string,
    options: StepOptions,
    work: (context: StepContext) => Output | Promise<Output>,
  ): Promise<Output>;
  /**
   * Resolves a step that may have happened.
   *
   * @throws {KitbagError} `option-invalid` if the step is not one of {@link Run.uncertain}, or the resolution is malformed.
   */
  resolve(step: string, resolution: StepResolution): Promise<void>;
  /**
   * Ends the run for good.
   *
   * @throws {KitbagError} `option-invalid` for something that is not an outcome.
   */
  end(outcome: RunOutcome): Promise<void>;
  /** Releases the run. Workers leave it alone until it is added again. */
  pause(): Promise<void>;
  /** Releases the run, so that another worker may continue it. Does nothing if the lease is already lost or released. */
  close(): Promise<void>;
}

/**
 * Works on a run. What it returns is the output that the run ends with, unless it has ended or paused the run itself. If it throws,
 * the run is tried again later; each step whose outcome is recorded is then answered from the journal.
 */
export type RunHandler = (run: Run) => JsonValue | void | Promise<JsonValue | void>;

/** Options of a worker. */
export interface WorkOptions {
  /** How many runs it works on at the same time. @default 1 */
  readonly concurrency?: number;
  /** How often to look for runs that other processes added; those that were added here start at once. @default 500 */
  readonly pollMs?: number;
  /** How many attempts a run has before it ends as failed, also if its worker vanished each time. @default 3 */
  readonly maxAttempts?: number;
  /** How long a run waits after its first failure; twice as long after each further one, up to a minute. @default 1000 */
  readonly retryDelayMs?: number;
  /** Called with errors outside the handlers: the worker continues, unless the store is closed. Must not throw. */
  readonly onError?: (cause: unknown) => void;
}

/** A running worker. */
export interface RunWorker {
  /** Takes no further run, aborts the signals of its runs, waits for their handlers and releases the runs. */
  stop(): Promise<void>;
}
