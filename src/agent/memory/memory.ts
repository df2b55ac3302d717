import type { Model, ModelMessage } from "../../models/model.ts";
import type { MemoryCompacted } from "../events.ts";
import type { ModelView } from "../exposure/exposure.ts";

/** What a memory is told when a conversation is too long. */
export interface MemoryNeed {
  readonly run: string;
  readonly step: number;
  readonly model: Model;
  readonly view: ModelView;
  readonly messages: readonly ModelMessage[];
  /** How many of the messages were there before the run; `Infinity` if it was compacted since, and they are marked. */
  readonly earlier: number;
  /** The skills that are open, and their instructions: these stay, whatever else goes. */
  readonly skills: readonly string[];
  readonly instructions: () => string;
  readonly signal: AbortSignal;
}

/**
 * Keeps a conversation within its limits.
 *
 * **Contract**: a list of messages is only added to; after a compaction there is another one. `isFull` is asked before each question
 * and looks only at what is new. `fit` answers with the messages to go on with, in which no call is separated from its result, or with
 * nothing if the conversation is as short as it can be; it throws nothing but `hook-failed`.
 */
export interface Memory {
  /** Tells whether a conversation must become shorter before the model is asked. */
  isFull(view: ModelView, messages: readonly ModelMessage[]): boolean;
  fit(need: MemoryNeed): Promise<MemoryCompacted | undefined>;
}
