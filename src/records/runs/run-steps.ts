import { KitbagError } from "../../core/errors.ts";
import { cloneJson, type JsonValue, showValue } from "../../core/json.ts";
import type { Clock } from "../../platform/clock.ts";
import { checkKey } from "../../store/checks.ts";
import { toKeptWithin } from "../../store/kept-value.ts";
import type { Journal } from "./run-journal.ts";
import { type RunOutcome, type RunRecord, toOutcome, toStepKey } from "./run-records.ts";
import type { Run, StepContext, StepOptions } from "./run.ts";

/** What the steps of a run need. */
export interface StepsOptions {
  readonly runId: string;
  readonly journal: Journal;
  readonly state: JournalState;
  readonly signal: AbortSignal;
  readonly leaseMs: number;
  readonly clock: Clock;
}

type Work = (context: StepContext) => unknown;

/** Makes the methods of a run that are about steps. */
export function createSteps(options: StepsOptions): Pick<Run, "step" | "resolve"> {
  const { journal, state, signal } = options;
  const running = new Map<string, Promise<Finished>>();

  return {
    async step<Output>(
      name: string,
      stepOptions: StepOptions,
      work: (context: StepContext) => Output | Promise<Output>,
    ) {
      checkKey(name);
      signal.throwIfAborted();
      const step = running.get(name) ?? runStep(options, name, stepOptions, work);
      const forget = (): void => void running.delete(name);
      running.set(name, step);
      try {
        const { output, kept } = await step;
        if (stepOptions.onSent === undefined) await kept;
        else if (kept !== undefined) stepOptions.onSent(kept);
        // Until the outcome is written, concurrent calls must not treat the step as uncertain.
        if (kept === undefined) forget();
        else void kept.then(forget, forget);
        return output as Output;
      } catch (cause) {
        forget();
        throw cause;
      }
    },
    async resolve(step, resolution) {
      if (!state.uncertain().includes(step) || running.has(step)) {
        const expected = `one of ${JSON.stringify(state.uncertain())}, which may have happened`;
        throw new KitbagError("option-invalid", { option: "step", found: showValue(step), expected });
      }
      if (resolution !== "again" && resolution?.output === undefined) {
        const expected = 'an object with the output, or "again"';
        throw new KitbagError("option-invalid", { option: "resolution", found: showValue(resolution), expected });
      }
      if (resolution === "again") await journal.appendRecord({ type: "step-reset", step });
      else {
        const output = toKeptWithin(step, resolution.output);
        await journal.appendRecord({ type: "step-outcome", step, output, resolved: true });
      }
    },
  };
}

/** The output of a step; and the promise of its write, if it is not yet on disk. */
interface Finished {
  readonly output: JsonValue;
  readonly kept?: Promise<void>;
}

async function runStep(
  options: StepsOptions,
  name: string,
  { idempotent = false, onSent }: StepOptions = {},
  work: Work,
): Promise<Finished> {
  const { state, signal, clock, leaseMs } = options;
  const { status, recall, attempt: attempts } = state.step(name);
  if (status === "done") return { output: recall() };
  if (status !== "new" && !idempotent) await park(options, name);
  const context = { key: toStepKey(options.runId, name), attempt: attempts + 1, signal };
  const { key, attempt } = context;
  const intent = { type: "step-intent", step: name, key, attempt, idempotent } as const;
  const declaredAt = clock.elapsed();
  // A worker that has lost the lease fails here, before the work starts.
  await keep(options, intent);
  // A process that was stopped for a while has the answer from before it was stopped.
  if (clock.elapsed() - declaredAt > leaseMs / 2) await proveLease(options);
  if (signal.aborted) await takeBack(options, name);
  const output = toKeptWithin(name, (await work(context)) ?? null);
  const outcome = { type: "step-outcome", step: name, output } as const;
  const kept = keep(options, outcome);
  if (onSent !== undefined) return { output, kept };
  await kept;
  return { output };
}

async function park({ journal, state, runId }: StepsOptions, name: string): Promise<never> {
  if (state.step(name).status !== "review") await journal.appendRecord({ type: "step-review", step: name });
  throw new KitbagError("step-uncertain", { run: runId, step: name });
}

/** Asks whether the lease is still there, until the answer is a fresh one. */
async function proveLease({ journal, clock, leaseMs }: StepsOptions): Promise<void> {
  let askedAt: number;
  do {
    askedAt = clock.elapsed();
    await journal.append([]);
  } while (clock.elapsed() - askedAt > leaseMs / 2);
}

/** Says that a step was not started after all. */
async function takeBack({ journal, signal }: StepsOptions, name: string): Promise<void> {
  await journal.appendRecord({ type: "step-reset", step: name });
  signal.throwIfAborted();
}

type StepRecord = RunRecord & { readonly type: "step-intent" | "step-outcome" };

/** Writes a record, also when the store is away meanwhile: at the latest, the end of the lease ends the wait. */
async function keep({ journal, state }: StepsOptions, record: StepRecord): Promise<void> {
  await journal.appendRecord(record, () => hasRecord(state, record));
}

function hasRecord(state: JournalState, record: StepRecord): boolean {
  const { attempt, status } = state.step(record.step);
  return record.type === "step-intent" ? attempt === record.attempt : status === "done";
}

/** How far a step came. */
interface StepState {
  /** How often it was about to start. */
  readonly attempt: number;
  /** `started` and `review` mean that it may have happened; with `review` that is written down. A step that is `done` stays so. */
  readonly status: "new" | "started" | "review" | "done";
  /** Makes a copy of the output, once the step is done. */
  readonly recall: () => JsonValue;
}

/** The state of a run, folded from its journal. */
export interface JournalState {
  /** The number of the last lease; 0 if the run never had one. */
  readonly epoch: number;
  /** The worker that had, or has, the last lease. */
  readonly worker: string;
  /** How many attempts there were since a worker last released the run normally. */
  readonly attempt: number;
  readonly outcome: RunOutcome | undefined;
  step(name: string): StepState;
  /** The steps of which it is unknown whether they happened. */
  uncertain(): readonly string[];
  /** Takes the next line of the journal into account. No caller may change it later. */
  add(value: JsonValue): void;
}

const untouched: StepState = { attempt: 0, status: "new", recall: () => null };

/** Makes the state of a run whose journal is empty. */
export function createJournalState(): JournalState {
  return new FoldedJournal();
}

class FoldedJournal implements JournalState {
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
        return this.#change(record.step, "done", { recall: () => cloneJson(record.output) });
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
