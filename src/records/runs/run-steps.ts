import { KitbagError } from "../../core/errors.ts";
import { type JsonValue, showValue } from "../../core/json.ts";
import type { Clock } from "../../platform/clock.ts";
import { checkKey } from "../../store/checks.ts";
import { toKeptWithin } from "../../store/kept-value.ts";
import type { Journal } from "./run-journal.ts";
import { type RunRecord, toStepKey } from "./run-records.ts";
import type { RunState } from "./run-state.ts";
import type { Run, StepContext, StepOptions } from "./run.ts";

/** What the steps of a run need. */
export interface StepsOptions {
  readonly runId: string;
  readonly journal: Journal;
  readonly state: RunState;
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
        // Until it is there, nobody else may take the step for one that may have happened.
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

/** What came of a step; and what to wait for until that is on disk, if it is not yet. */
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
  // Whoever has lost the lease learns it here, and starts nothing.
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

function hasRecord(state: RunState, record: StepRecord): boolean {
  const { attempt, status } = state.step(record.step);
  return record.type === "step-intent" ? attempt === record.attempt : status === "done";
}
