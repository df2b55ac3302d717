import type { JsonValue } from "../core/json.ts";
import type { CostRow } from "./cost/usage-counter.ts";
import type { AgentEvent } from "./events.ts";
import type { RunResult, RunUsage } from "./run-result.ts";

/**
 * A run in progress. Iterate over it for its events: an iteration that starts in the same tick as the run gets all of them, a later
 * one gets the events from then on.
 */
export interface AgentRun<Output = JsonValue> extends AsyncIterable<AgentEvent> {
  readonly id: string;
  /** Never rejects: a failure is a result. */
  readonly result: Promise<RunResult<Output>>;
  /** What it has cost so far, in US dollars; `undefined` if a price is not known. */
  readonly cost: number | undefined;
  readonly usage: RunUsage;
  /** What the tokens so far were spent on: models, instructions, the conversation, skills, tools. Computed when it is asked for. */
  breakdown(): readonly CostRow[];
  /** Stops it: calls that are running are cancelled. */
  stop(): void;
  /** Says something to the model before it is asked the next time; while it gives its last answer, it is asked once more. */
  steer(text: string): void;
}
