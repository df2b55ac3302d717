import type { Model } from "../../models/model.ts";
import { contextWindowOf } from "../../models/tokens/context-window.ts";
import { estimatePromptTokens } from "../../models/tokens/estimate-tokens.ts";
import type { ModelView } from "../exposure/exposure.ts";
import { leastTokens, type MemoryOptions } from "./memory-options.ts";

/** How long a conversation may be, without the system text and the tools. */
export interface ConversationLimits {
  readonly tokens: number;
  readonly messages: number;
}

/** What a model is taken to have whose window nobody knows: so much, and in any case a multiple of its system text and tools. */
const unknownWindow = 32_768;
const unknownMultiple = 3;
/** Tokens are estimated: so much of a window is left free because of that. */
const margin = 0.1;
/** Room for an answer if nobody says how long it may be: a part of the window, and no more than this. */
const answerShare = 0.2;
const mostAnswerTokens = 8192;

/**
 * How long the conversation of a run may be, if tools of `announced` tokens stand in it. A model that is shown more than it takes has
 * the least that makes sense.
 */
export function limitsOf(
  { maxTokens = Infinity, maxMessages = Infinity, windows }: MemoryOptions,
  model: Model,
  { system, tools, announced = 0 }: ModelView & { readonly announced?: number },
  maxOutputTokens: number | undefined,
): ConversationLimits {
  const shown = estimatePromptTokens({ system, tools, messages: [] }, model) + announced;
  const window = windowOf(model, windows, shown);
  if (window === Infinity) return { tokens: maxTokens, messages: maxMessages };
  const answer = Math.min(
    maxOutputTokens ?? mostAnswerTokens,
    window * (maxOutputTokens === undefined ? answerShare : 0.5),
  );
  const left = Math.floor(window * (1 - margin) - answer - shown);
  return { tokens: Math.max(leastTokens, Math.min(maxTokens, left)), messages: maxMessages };
}

/** How many tokens a model takes, with those of its answer. */
export function windowOf(model: Model, windows: MemoryOptions["windows"], shown = 0): number {
  const known = contextWindowOf(model, windows);
  if (known !== undefined) return known;
  return model.provider.startsWith("kitbag") ? Infinity : Math.max(unknownWindow, shown * unknownMultiple);
}
