import type { JsonValue } from "../core/json.ts";
import type { CostRow } from "./cost/usage-counter.ts";
import type { AgentEvent } from "./events.ts";
import type { OkRun, RunResult, RunUsage } from "./run-result.ts";

/** What there is of an output: objects may lack properties, and lists items, at every depth. */
export type PartialOutput<Output> = Output extends readonly (infer Item)[]
  ? readonly PartialOutput<Item>[]
  : Output extends object
    ? { readonly [Name in keyof Output]?: PartialOutput<Output[Name]> }
    : Output;

/**
 * A run in progress. Await it for its answer. Iterate over it for its events: an iteration that starts in the same tick as the run gets
 * all of them, a later one gets the events from then on.
 *
 * **Contract**: `await run`, `text()` and `output()` resolve if the run is done, and reject with a {@link KitbagError} if it is not:
 * with the error of a failed run, with `run-stopped`, `run-paused`, `answer-cut` or `answer-refused`. The `details` of each also have
 * the id of the run as `run`, and what its model said last as `text`. A run that is not awaited never causes an unhandled rejection.
 * An `async` function that returns a run returns its answer: put the run into an object to hand over the run itself.
 */
export interface AgentRun<Output = JsonValue> extends AsyncIterable<AgentEvent>, PromiseLike<OkRun<Output>> {
  readonly id: string;
  /** How the run ended, as data. Never rejects: a failure is a result. */
  readonly result: Promise<RunResult<Output>>;
  /** The text of the answer. Rejects if there is no answer. */
  text(): Promise<string>;
  /** The answer as a value of the output schema. Rejects if there is no answer. */
  output(): Promise<Output>;
  /**
   * What there is of the output while the model writes it, each time more: texts may be incomplete, numbers are not. What the library of
   * the schema makes of the output (its transforms) is not in it. When the model has to answer anew, it begins anew. Ends without an error
   * when the run does; {@link AgentRun.output} says how that was.
   *
   * Throws `option-invalid` while it is iterated over if the run has no output schema.
   */
  partials(): AsyncIterable<PartialOutput<Output>>;
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
