import type { JsonValue } from "../../core/json.ts";
import { toRecord, type RunOutcome, type RunRecord } from "./run-records.ts";

/** How far a step came. */
export interface StepState {
  /** How often it was about to start. */
  readonly attempt: number;
  /** `started` and `review` mean that it may have happened; with `review` that is written down. A step that is `done` stays so. */
  readonly status: "new" | "started" | "review" | "done";
  /** What came of it, once it is done. */
  readonly output: JsonValue;
}

/** What the journal of a run says, taken together. */
export interface RunState {
  /** The number of the last lease; 0 if nobody ever worked on it. */
  readonly epoch: number;
  /** Who had, or has, the last lease. */
  readonly worker: string;
  /** How often it was taken up since somebody gave it back in good order. */
  readonly attempt: number;
  readonly outcome: RunOutcome | undefined;
  step(name: string): StepState;
  /** The steps that may have happened, and nobody knows. */
  uncertain(): readonly string[];
  /** Takes the next line of the journal into account. */
  add(value: JsonValue): void;
}

const untouched: StepState = { attempt: 0, status: "new", output: null };

/** Makes the state of a run whose journal is empty. */
export function createRunState(): RunState {
  return new JournalState();
}

class JournalState implements RunState {
  epoch = 0;
  worker = "";
  attempt = 0;
  outcome: RunOutcome | undefined;
  readonly #steps = new Map<string, StepState>();

  step(name: string): StepState {
    return this.#steps.get(name) ?? untouched;
  }

  uncertain(): readonly string[] {
    const open = [...this.#steps].filter(([, { status }]) => status === "started" || status === "review");
    return open.map(([step]) => step);
  }

  add(value: JsonValue): void {
    const record = toRecord(value);
    if (record) this.#apply(record);
  }

  #apply(record: RunRecord): void {
    switch (record.type) {
      case "run-start":
        return;
      case "lease-start":
        this.epoch = record.epoch;
        this.worker = record.worker;
        this.attempt += 1;
        return;
      case "lease-end":
        if (record.reason !== "failed") this.attempt = 0;
        return;
      case "step-intent":
        return this.#change(record.step, { attempt: record.attempt, status: "started" });
      case "step-outcome":
        return this.#change(record.step, { status: "done", output: record.output });
      case "step-review":
        return this.#change(record.step, { status: "review" });
      case "step-reset":
        return this.#change(record.step, { status: "new" });
      case "run-end":
        this.outcome ??= record.outcome;
    }
  }

  #change(step: string, changes: Partial<StepState>): void {
    const known = this.step(step);
    if (known.status !== "done") this.#steps.set(step, { ...known, ...changes });
  }
}
