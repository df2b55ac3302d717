import type { Model, ModelUsage } from "../model.ts";
import { contextWindowOf } from "../tokens/context-window.ts";
import { estimatePromptTokens, type PromptParts } from "../tokens/estimate-tokens.ts";
import type { PriceOf } from "./price-of.ts";

/** About what a question will cost. */
export interface CostEstimate {
  readonly inputTokens: number;
  /**
   * In US dollars, what it costs at the very least: a fifth less input than estimated, all of it from the provider's cache, and no
   * answer. `undefined` if the price is not known.
   */
  readonly least: number | undefined;
  /**
   * In US dollars, what it costs if nothing comes from a cache and the answer is as long as it may be. `undefined` if the price, or
   * how long the answer may be, is not known.
   */
  readonly most: number | undefined;
}

/** A question, as far as it decides about the price. */
export interface EstimatedQuestion extends PromptParts {
  readonly maxOutputTokens?: number | undefined;
}

/** By so much an estimate of tokens may be too high. */
const certainShare = 0.8;

/**
 * Estimates what a question will cost, before it is asked.
 *
 * @example
 * ```ts
 * import { createPriceOf, estimateCost, resolveModel } from "kitbag/models";
 *
 * const model = await resolveModel("anthropic/claude-sonnet-4-5", { apiKey: "none" });
 * const priceOf = await createPriceOf(model);
 * const messages = [{ role: "user" as const, content: [{ type: "text" as const, text: "How warm is it in Rome?" }] }];
 *
 * const { least = 0, most = 0 } = estimateCost(model, priceOf, { messages, maxOutputTokens: 1000 });
 * console.assert(least < 0.0001 && most > 0.015 && most < 0.016);
 * ```
 */
export function estimateCost(model: Model, priceOf: PriceOf, question: EstimatedQuestion): CostEstimate {
  const { maxOutputTokens } = question;
  const inputTokens = Math.min(estimatePromptTokens(question, model), contextWindowOf(model) ?? Infinity);
  const certain = Math.floor(inputTokens * certainShare);
  return {
    inputTokens,
    least: priceOf(model.modelId, toUsage({ input: certain, cacheRead: certain, output: 0 })),
    most:
      maxOutputTokens === undefined
        ? undefined
        : priceOf(model.modelId, toUsage({ input: inputTokens, cacheRead: 0, output: maxOutputTokens })),
  };
}

interface Tokens {
  readonly input: number;
  readonly cacheRead: number;
  readonly output: number;
}

/** The usage of an answer with these tokens. */
export function toUsage({ input, cacheRead, output }: Tokens): ModelUsage {
  return {
    inputTokens: { total: input, noCache: input - cacheRead, cacheRead, cacheWrite: 0 },
    outputTokens: { total: output, text: output, reasoning: 0 },
  };
}
