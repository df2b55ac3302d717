import { KitbagError } from "../../core/errors.ts";
import { showValue, type JsonObject, type JsonValue } from "../../core/json.ts";
import type { LogEntry } from "../../core/store.ts";

/** What happened in a run: any JSON object with a `type`, which says what it is. */
export interface RunEvent extends JsonObject {
  readonly type: string;
}

/** One line of the journal of a run. */
export interface RunEntry extends LogEntry {
  readonly value: RunEvent;
}

/** How a run ended. */
export type RunOutcome =
  | { readonly status: "ok"; readonly output: JsonValue }
  | { readonly status: "failed"; readonly error: RunFailure };

/** Why a run failed. */
export interface RunFailure {
  /** The code, if it was an error of Kitbag. */
  readonly code?: string;
  readonly message: string;
}

/** Why a worker released a run that has not ended. */
export type LeaseEnd = "released" | "paused" | "review" | "failed";

/** What Kitbag itself writes into the journal of a run. Read top to bottom, it says who did what, and how far it came. */
export type RunRecord =
  | { readonly type: "run-start" }
  /** The worker that wrote this may write the following records, until the next lease. `epoch` counts from 1. */
  | { readonly type: "lease-start"; readonly epoch: number; readonly worker: string }
  | { readonly type: "lease-end"; readonly epoch: number; readonly reason: LeaseEnd; readonly error?: RunFailure }
  /** A step is about to start. `key` is its idempotency key: the same for each attempt. */
  | {
      readonly type: "step-intent";
      readonly step: string;
      readonly key: string;
      readonly attempt: number;
      readonly idempotent: boolean;
    }
  | { readonly type: "step-outcome"; readonly step: string; readonly output: JsonValue; readonly resolved?: true }
  /** It is unknown whether a step happened: the run waits for a user to resolve it. */
  | { readonly type: "step-review"; readonly step: string }
  /** A user resolved that the step did not happen: it may start again. */
  | { readonly type: "step-reset"; readonly step: string }
  | { readonly type: "run-end"; readonly outcome: RunOutcome };

const recordTypes: ReadonlySet<string> = new Set<RunRecord["type"]>([
  "run-start",
  "lease-start",
  "lease-end",
  "step-intent",
  "step-outcome",
  "step-review",
  "step-reset",
  "run-end",
]);

/** The record that a line of a journal is, if Kitbag wrote it. */
export function toRecord(value: JsonValue): RunRecord | undefined {
  const { type } = (value ?? {}) as Partial<RunEvent>;
  return typeof type === "string" && recordTypes.has(type) ? (value as unknown as RunRecord) : undefined;
}

/** How a run ended. Also one has ended whose last line does not say how. */
export function toOutcome({ outcome }: Extract<RunRecord, { readonly type: "run-end" }>): RunOutcome {
  const { status } = (outcome ?? {}) as Partial<RunOutcome>;
  if (status === "ok" || status === "failed") return outcome;
  return { status: "failed", error: { message: "The journal does not say how the run ended" } };
}

/**
 * Checks events on their way into a journal.
 *
 * @throws {KitbagError} `option-invalid` if one has no type, or one that is for Kitbag alone.
 */
export function checkEvents(events: readonly RunEvent[]): void {
  if (!Array.isArray(events)) refuse("events", showValue(events), "a list of events");
  for (const [index, event] of events.entries()) {
    const type: unknown = (event as Partial<RunEvent> | null | undefined)?.type;
    if (typeof type !== "string" || type === "") {
      refuse(`events[${index}].type`, showValue(type), "a text that says what happened");
    }
    if (recordTypes.has(type)) {
      refuse(`events[${index}].type`, showValue(type), "a type that Kitbag does not use itself");
    }
  }
}

/**
 * Checks how a run is to end.
 *
 * @throws {KitbagError} `option-invalid` if it is not an outcome.
 */
export function checkOutcome(outcome: RunOutcome): void {
  const { status, output, error } = (outcome ?? {}) as {
    status?: unknown;
    output?: unknown;
    error?: Partial<RunFailure>;
  };
  if (status === "ok" && output !== undefined) return;
  if (status === "failed" && typeof error?.message === "string") return;
  refuse("outcome", showValue(outcome), 'a status "ok" with an output, or "failed" with an error that has a message');
}

function refuse(option: string, found: string, expected: string): never {
  throw new KitbagError("option-invalid", { option, found, expected });
}

/** `run:step`. A run's id with a ":" is written so that no other run and step give the same. */
export function toStepKey(runId: string, name: string): string {
  return `${runId.replaceAll("%", "%25").replaceAll(":", "%3A")}:${name}`;
}

/** The name of the stream that holds the journal of a run. */
export function toStream(runId: string): string {
  return `${streamPrefix}${runId}`;
}

/** What the streams of all journals begin with. */
export const streamPrefix = "run:";
