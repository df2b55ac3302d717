import { createUsageCounter, type UsageCounter } from "../cost/usage-counter.ts";
import type { CallSpent } from "../events.ts";
import type { PlannedCall } from "./plan-calls.ts";
import type { RunState } from "./run-state.ts";

/** What one call costs besides the answers of its run's own model: what its tools pay, and what the runs of sub-agents use. */
export class CallSpending {
  readonly #run: RunState;
  readonly #planned: PlannedCall;
  #counter: UsageCounter | undefined;
  #hasRuns = false;

  constructor(run: RunState, planned: PlannedCall) {
    this.#run = run;
    this.#planned = planned;
  }

  /** A tool says that it paid so much. */
  readonly pay = (cost: number): void => this.#open().add({ cost });

  /** Makes the counter around that of a sub-agent's run. */
  openRun(): UsageCounter {
    this.#hasRuns = true;
    return this.#open();
  }

  /** Writes it down, without a wait: it is on disk together with the outcome of the call. */
  write(): void {
    if (this.#counter === undefined) return;
    const { id: run, step, spent, parts } = this.#run;
    const { id, address: tool, index } = this.#planned;
    const cost = this.#counter.cost();
    const event: CallSpent = {
      type: "call-spent",
      run,
      step,
      call: `${step}.${index}`,
      id,
      tool,
      ...(cost !== undefined && { cost }),
      ...(this.#hasRuns && { usage: this.#counter.usage() }),
    };
    spent.push(event);
    parts.log.send(event);
    parts.feed.tell(event);
  }

  #open(): UsageCounter {
    return (this.#counter ??= createUsageCounter({ around: this.#run.parts.counter }));
  }
}
