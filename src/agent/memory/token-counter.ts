import type { ModelMessage } from "../../models/model.ts";
import { countText } from "../../models/tokens/count-text.ts";
import { estimateMessageTokens, type CountingModel } from "../../models/tokens/estimate-tokens.ts";
import { familyOf } from "../../models/tokens/token-family.ts";
import type { CountTokens } from "./cut-text.ts";

/** Counts tokens as one model does. */
export interface TokenCounter {
  readonly text: CountTokens;
  messages(messages: readonly ModelMessage[]): number;
}

/** Makes a counter for a model. */
export function createTokenCounter(model: CountingModel): TokenCounter {
  const key = familyOf(model) === "claude" ? "claude" : "usual";
  return {
    text: (text) => countText(text)[key],
    messages: (messages) => messages.reduce((sum, message) => sum + estimateMessageTokens(message, model), 0),
  };
}
