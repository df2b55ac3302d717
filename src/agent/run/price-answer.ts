import type { CountedAnswer } from "../events.ts";
import type { ReadyModel } from "../model-source.ts";
import type { Answer } from "./answer-reader.ts";

/** Says who gave an answer, and what it cost if that is known: of a model that is several it is one of them. */
export function priceAnswer(
  { model, priceOf }: Pick<ReadyModel, "model" | "priceOf">,
  answer: Pick<Answer, "by" | "modelId" | "usage">,
): Pick<CountedAnswer, "model" | "cost"> {
  const { by = `${model.provider}/${model.modelId}` } = answer;
  const slash = by.indexOf("/");
  const modelId = answer.modelId ?? by.slice(slash + 1);
  const cost = priceOf(modelId, answer.usage, answer.by);
  return { model: `${by.slice(0, slash)}/${modelId}`, ...(cost !== undefined && { cost }) };
}
