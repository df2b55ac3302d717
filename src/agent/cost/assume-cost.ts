import type { Model } from "../../models/model.ts";
import { toUsage } from "../../models/prices/estimate-cost.ts";
import type { PriceOf } from "../../models/prices/price-of.ts";
import { countPart } from "../../models/tokens/count-content.ts";
import { estimatePromptTokens, toTokens } from "../../models/tokens/estimate-tokens.ts";
import { familyOf } from "../../models/tokens/token-family.ts";
import type { Question } from "./question.ts";

/**
 * About what an answer cost whose provider does not say how many tokens it took, or that was cut off before it could: for limits, and
 * not for what is shown. `undefined` if the price of the model is not known.
 */
export function assumeCost(
  { answer, messages, count, view }: Question,
  model: Model,
  priceOf: PriceOf,
): number | undefined {
  const family = familyOf(model);
  const shown = { messages: messages.slice(0, count), ...(view && { system: view.system, tools: view.tools }) };
  const input = answer.estimate?.inputTokens ?? estimatePromptTokens(shown, model);
  const output =
    answer.estimate?.outputTokens ?? answer.content.reduce((sum, part) => sum + toTokens(countPart(part), family), 0);
  const modelId = answer.model.slice(answer.model.indexOf("/") + 1);
  const isOther = !answer.model.startsWith(`${model.provider}/`);
  return priceOf(modelId, toUsage({ input, cacheRead: 0, output }), isOther ? answer.model : undefined);
}
