import type { Attributes } from "@opentelemetry/api";

import type { Model, ModelCall } from "../../models/model.ts";
import { providerOf } from "../../models/prices/provider-names.ts";
import { conventions, own } from "../../workspace/telemetry/semantic-names.ts";
import type { ModelAnswered } from "../events.ts";

/** Providers that the conventions know under another name. */
const names: ReadonlyMap<string, string> = new Map([
  ["amazon-bedrock", "aws.bedrock"],
  ["azure", "azure.ai.openai"],
  ["bedrock", "aws.bedrock"],
  ["google", "gcp.gemini"],
  ["google-vertex", "gcp.vertex_ai"],
  ["mistral", "mistral_ai"],
  ["vertex", "gcp.vertex_ai"],
  ["xai", "x_ai"],
]);

/** Says which model is asked, as the conventions want it. */
export function describeModel(model: Model): Attributes {
  const provider = providerOf(model);
  return { [conventions.providerName]: names.get(provider) ?? provider, [conventions.requestModel]: model.modelId };
}

/** Says how it is asked, but not what. */
export function describeSettings(call: ModelCall): Attributes {
  return {
    [conventions.requestMaxTokens]: call.maxOutputTokens,
    [conventions.requestTemperature]: call.temperature,
    [conventions.requestTopP]: call.topP,
    [conventions.requestTopK]: call.topK,
    [conventions.requestSeed]: call.seed,
    [conventions.requestStop]: call.stopSequences,
  };
}

/** Says what an answer used, but not what it is. */
export function describeAnswer({ model, finishReason, usage, cost }: ModelAnswered): Attributes {
  const { inputTokens, outputTokens } = usage;
  return {
    [conventions.responseModel]: model.slice(model.indexOf("/") + 1),
    [conventions.finishReasons]: [finishReason],
    [conventions.inputTokens]: inputTokens.total,
    [conventions.outputTokens]: outputTokens.total,
    [conventions.cacheReadTokens]: inputTokens.cacheRead,
    [conventions.cacheWriteTokens]: inputTokens.cacheWrite,
    [conventions.reasoningTokens]: outputTokens.reasoning,
    [own.cost]: cost,
  };
}
