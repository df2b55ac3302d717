import type { ModelMessage } from "../../models/model.ts";
import { countText } from "../../models/tokens/count-text.ts";
import { estimateMessageTokens, estimateToolTokens, type CountingModel } from "../../models/tokens/estimate-tokens.ts";
import { familyOf } from "../../models/tokens/token-family.ts";
import { readNativeChange } from "../../models/tool-changes.ts";
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
    messages: (messages) => messages.reduce((sum, message) => sum + countSaid(message, model), 0),
  };
}

/** About how many tokens a message has of a conversation. Tools that it announces are tools, as those in the list are. */
export function countSaid(message: ModelMessage, model: CountingModel): number {
  return estimateMessageTokens(message, model) - countAnnounced(message, model);
}

/** About how many tokens the tools have that a message announces. */
export function countAnnounced(message: ModelMessage, model: CountingModel): number {
  const change = readNativeChange(message);
  return change === undefined ? 0 : change.added.reduce((sum, tool) => sum + estimateToolTokens(tool, model), 0);
}
