import type { Model, ModelMessage } from "../../models/model.ts";
import type { ModelView } from "../exposure/exposure.ts";
import type { ReadyModel } from "../model-source.ts";
import { compact } from "./compact.ts";
import { limitsOf, type ConversationLimits } from "./conversation-limits.ts";
import { atMostTokens } from "./at-most-tokens.ts";
import type { Memory } from "./memory.ts";
import type { MemoryOptions } from "./memory-options.ts";
import { countAnnounced, countSaid } from "./token-counter.ts";

/** What a memory is made of. */
export interface MemoryParts {
  readonly options: MemoryOptions | undefined;
  readonly model: Model;
  readonly maxOutputTokens: number | undefined;
  /** Finds the model that is asked for summaries. */
  readonly findModel: () => ReadyModel | Promise<ReadyModel>;
  /** Tells whether the run may still ask it that. */
  readonly mayAsk: (model: ReadyModel, text: string) => boolean;
}

const usualOptions: MemoryOptions = {};

/** Makes the memory of a run. */
export function createMemory({ options = usualOptions, model, maxOutputTokens, ...summaries }: MemoryParts): Memory {
  let shown: ModelView | undefined;
  let limits: ConversationLimits = { tokens: Infinity, messages: Infinity };
  // Of the first `count` of these messages: the most tokens that they may have, then what they have.
  let counted: readonly ModelMessage[] = [];
  let count = 0;
  let bound = 0;
  let isExact = false;
  // What tools have that stand among them, and with what the limits were made.
  let announced = 0;
  let limited = 0;

  function countFrom(start: number, messages: readonly ModelMessage[]): void {
    if (start === 0) bound = announced = 0;
    for (let index = start; index < messages.length; index++) {
      const message = messages[index] as ModelMessage;
      bound += isExact ? countSaid(message, model) : atMostTokens(message, model);
      announced += countAnnounced(message, model);
    }
    count = messages.length;
  }

  function limit(view: ModelView): void {
    if (view === shown && announced === limited) return;
    limits = limitsOf(options, model, { ...view, announced }, maxOutputTokens);
    shown = view;
    limited = announced;
  }

  return {
    isFull(view, messages) {
      limit(view);
      if (messages.length > limits.messages) return true;
      if (limits.tokens === Infinity) return false;
      if (messages !== counted || messages.length < count) {
        counted = messages;
        count = 0;
      }
      countFrom(count, messages);
      limit(view);
      if (bound <= limits.tokens) return false;
      if (isExact) return true;
      // It may be too long: from now on it is looked at closely.
      isExact = true;
      countFrom(0, messages);
      return bound > limits.tokens;
    },
    fit: (need) => compact(need, { options, limits, ...summaries }),
  };
}
