import type { Model, ModelMessage } from "../../models/model.ts";
import type { CountingModel } from "../../models/tokens/estimate-tokens.ts";
import type { ModelView } from "../exposure/exposure.ts";
import type { ReadyModel } from "../model-source.ts";
import { compact } from "./compact.ts";
import { type ConversationLimits, limitsOf, type Memory, type MemoryOptions } from "./memory-options.ts";
import { countAnnounced, countSaid, partsOf } from "./message-text.ts";

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

/** No character is estimated to have more tokens than this, as it is and as JSON, where it may be written as `\u0000`. */
const perCharacter = 2;
const perJsonCharacter = 6;
/** What a part, a value or a key costs at most beside its characters: quotes, brackets, commas, digits. */
const perPiece = 32;
/** Values inside of values are looked at to this depth. */
const deepest = 32;

/** At least as many tokens as a message is estimated to have. It is much faster to say than how many these are. */
export function atMostTokens(message: ModelMessage, model: CountingModel): number {
  let sum = perPiece;
  for (const { type, text, toolName, input, output } of partsOf(message)) {
    // Pictures and other files do not cost what their characters do.
    if (type === "file" || type === "reasoning-file" || output?.type === "content") {
      return countSaid(message, model);
    }
    sum += perPiece;
    if (typeof text === "string") sum += text.length * perCharacter;
    if (typeof toolName === "string") sum += toolName.length * perCharacter;
    if (input !== undefined) sum += atMostJson(input, 0);
    if (output !== undefined) sum += atMostJson(output, 0);
  }
  return sum;
}

function atMostJson(value: unknown, depth: number): number {
  if (typeof value === "string") return perPiece + value.length * perJsonCharacter;
  if (typeof value !== "object" || value === null) return perPiece;
  // Something that says itself what its JSON is, or is too deep to say.
  if (depth === deepest || "toJSON" in value) return Infinity;
  let sum = perPiece;
  if (Array.isArray(value)) {
    for (const item of value) sum += atMostJson(item, depth + 1);
    return sum;
  }
  for (const key in value) {
    sum += perPiece + key.length * perJsonCharacter + atMostJson((value as Record<string, unknown>)[key], depth + 1);
  }
  return sum;
}
