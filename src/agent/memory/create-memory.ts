import type { Model, ModelMessage } from "../../models/model.ts";
import type { ModelView } from "../exposure/exposure.ts";
import type { ReadyModel } from "../model-source.ts";
import { type ConversationLimits, leastTokens, limitsOf, type Memory, type MemoryOptions } from "./memory-options.ts";
import { countAnnounced, countSaid } from "./message-text.ts";

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
  // How many tokens the first `count` of these messages have, and the tools that stand among them.
  let counted: readonly ModelMessage[] = [];
  let count = 0;
  let tokens = 0;
  let announced = 0;
  let limited = 0;
  let most = Infinity;

  function limit(view: ModelView): void {
    if (view === shown && announced === limited) return;
    const { tokens: known, messages } = limitsOf(options, model, { ...view, announced }, maxOutputTokens);
    limits = { tokens: Math.min(known, most), messages };
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
        count = tokens = announced = 0;
      }
      for (const message of messages.slice(count)) {
        tokens += countSaid(message, model);
        announced += countAnnounced(message, model);
      }
      count = messages.length;
      limit(view);
      return tokens > limits.tokens;
    },
    lower(view, messages) {
      const all = messages.reduce((sum, message) => sum + countSaid(message, model), 0);
      most = Math.max(leastTokens, Math.floor(all / 2));
      shown = undefined;
      limit(view);
    },
    // Loaded when a conversation is too long: most never are.
    fit: async (need) => (await import("./compact.ts")).compact(need, { options, limits, ...summaries }),
  };
}
