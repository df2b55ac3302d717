import { cloneJson, type JsonValue } from "../../core/json.ts";
import { toOutcome, type RunOutcome, type RunRecord } from "./run-records.ts";

/** How far a step came. */
export interface StepState {
  /** How often it was about to start. */
  readonly attempt: number;
  /** `started` and `review` mean that it may have happened; with `review` that is written down. A step that is `done` stays so. */
  readonly status: "new" | "started" | "review" | "done";
  /** Makes a copy of what came of it, once it is done. */
  readonly recall: () => JsonValue;
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
  /** Takes the next line of the journal into account. If others may change it later, `text` is what it was as JSON. */
  add(value: JsonValue, text?: string): void;
}

const untouched: StepState = { attempt: 0, status: "new", recall: () => null };

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

  add(value: JsonValue, text?: string): void {
    // What others wrote has other types.
    const record = value as unknown as RunRecord | null;
    switch (record?.type) {
      case "lease-start":
        this.epoch = record.epoch;
        this.worker = record.worker;
        this.attempt += 1;
        return;
      case "lease-end":
        if (record.reason !== "failed") this.attempt = 0;
        return;
      case "step-intent":
        return this.#change(record.step, "started", { attempt: record.attempt });
      case "step-outcome":
        return this.#change(record.step, "done", { recall: toRecall(record.output, text) });
      case "step-review":
        return this.#change(record.step, "review");
      case "step-reset":
        return this.#change(record.step, "new");
      case "run-end":
        this.outcome ??= toOutcome(record);
        return;
      case "run-start":
      case undefined:
    }
  }

  #change(step: string, status: StepState["status"], changes: Partial<StepState> = {}): void {
    const known = this.step(step);
    if (known.status === "done") return;
    const { attempt = known.attempt, recall = known.recall } = changes;
    this.#steps.set(step, { attempt, status, recall });
  }
}

function toRecall(output: JsonValue, text: string | undefined): () => JsonValue {
  return text === undefined
    ? () => cloneJson(output)
    : () => (JSON.parse(text) as { readonly output: JsonValue }).output;
}
