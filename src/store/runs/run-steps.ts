import { isKitbagError, KitbagError } from "../../core/errors.ts";
import { showValue, type JsonValue } from "../../core/json.ts";
import { checkKey } from "../check-key.ts";
import { toKeptWithin } from "../kept-value.ts";
import { wait, type RunClock } from "./run-clock.ts";
import type { Journal } from "./run-journal.ts";
import type { RunRecord } from "./run-records.ts";
import type { RunState } from "./run-state.ts";
import type { Run, StepContext, StepOptions } from "./run.ts";

/** What the steps of a run need. */
export interface StepsOptions {
  readonly runId: string;
  readonly journal: Journal;
  readonly state: RunState;
  readonly signal: AbortSignal;
  readonly leaseMs: number;
  readonly clock: RunClock;
}

type Work = (context: StepContext) => unknown;

/** Makes the methods of a run that are about steps. */
export function createSteps(options: StepsOptions): Pick<Run, "step" | "resolve"> {
  const { journal, state, signal } = options;
  const running = new Map<string, Promise<JsonValue>>();

  return {
    async step<Output>(
      name: string,
      stepOptions: StepOptions,
      work: (context: StepContext) => Output | Promise<Output>,
    ) {
      checkKey(name);
      signal.throwIfAborted();
      const step = running.get(name) ?? runStep(options, name, { ...stepOptions, work });
      running.set(name, step);
      try {
        return (await step) as Output;
      } finally {
        running.delete(name);
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
      else await journal.append([{ type: "step-outcome", step, output: resolution.output, resolved: true }]);
    },
  };
}

interface StepWork extends StepOptions {
  readonly work: Work;
}

async function runStep(options: StepsOptions, name: string, step: StepWork): Promise<JsonValue> {
  const { state, signal } = options;
  const { idempotent = false, work } = step;
  const { status, recall, attempt } = state.step(name);
  if (status === "done") return recall();
  if (status !== "new" && !idempotent) await park(options, name);
  const context = { key: `${options.runId}:${name}`, attempt: attempt + 1, signal };
  await declare(options, { type: "step-intent", step: name, key: context.key, attempt: context.attempt, idempotent });
  const result = toKeptWithin(name, (await work(context)) ?? null);
  const outcome = { type: "step-outcome", step: name, output: result } as const;
  await write(options, outcome, () => state.step(name).status === "done");
  return result;
}

async function park({ journal, state, runId }: StepsOptions, name: string): Promise<never> {
  if (state.step(name).status !== "review") await journal.appendRecord({ type: "step-review", step: name });
  throw new KitbagError("step-uncertain", { run: runId, step: name });
}

/** Writes down that the step is about to start. Whoever has lost the lease learns it here, and starts nothing. */
async function declare(options: StepsOptions, intent: RunRecord & { readonly type: "step-intent" }): Promise<void> {
  const { journal, state, signal, clock, leaseMs } = options;
  const { step, attempt } = intent;
  let provenAt = clock.elapsed();
  await write(options, intent, () => state.step(step).attempt === attempt);
  // A process that was stopped for a while has the answer from before it was stopped: ask again.
  while (clock.elapsed() - provenAt > leaseMs / 2) {
    provenAt = clock.elapsed();
    await journal.append([]);
  }
  if (!signal.aborted) return;
  await journal.appendRecord({ type: "step-reset", step });
  signal.throwIfAborted();
}

/** Writes a record once, also when the store is away for a moment: at the latest, the end of the lease ends it. */
async function write(options: StepsOptions, record: RunRecord, isThere: () => boolean): Promise<void> {
  const { journal, clock, leaseMs } = options;
  for (let isFirst = true; ; isFirst = false) {
    try {
      if (!isFirst) {
        await wait(clock, leaseMs / 20);
        // Looks at what is there: the record may have been written although the store said that it could not.
        await journal.append([]);
      }
      if (!isThere()) await journal.appendRecord(record);
      return;
    } catch (cause) {
      if (!isKitbagError(cause, "store-unavailable") && !isKitbagError(cause, "store-conflict")) throw cause;
    }
  }
}
