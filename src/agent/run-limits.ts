/**
 * What a run may use; each is looked at before the model is asked. What counts of a run that is resumed is what it has used from its
 * beginning on.
 */
export interface RunLimits {
  /** How often the model is asked, also when a hook has it asked again. @default 50 */
  readonly maxSteps: number;
  /** Input and output together. @default none */
  readonly maxTokens: number;
  /**
   * In US dollars. A question is not asked that costs more for sure; an answer may still be the one that goes over. A model whose
   * price nobody knows is refused when there is a limit. @default none
   */
  readonly maxCost: number;
  /**
   * How long somebody works on it: a run that waits for an approval, or for whoever resumes it, does not use up its time. A model, a
   * tool or a hook that still runs when the time is up is stopped. @default none
   */
  readonly maxMs: number;
  /** Calls of tools. None of the calls of an answer is made if together they are too many. @default 1000 */
  readonly maxCalls: number;
  /** How many calls of one answer run at the same time. @default 8 */
  readonly maxParallel: number;
}
