/**
 * Kitbag's models: any provider by one string, an offline one, and what makes several of them one.
 *
 * @module
 */
export { compressText } from "./models/compress/compress-text.ts";
export type { CompressedText, CompressOptions } from "./models/compress/compress-text.ts";
export { createImageCache } from "./models/images/image-cache.ts";
export type { ImageCache, ImageCacheOptions } from "./models/images/image-cache.ts";
export { prepareImages } from "./models/images/prepare-images.ts";
export type { PrepareImagesOptions } from "./models/images/prepare-images.ts";
export { toImagePart } from "./models/images/to-image-part.ts";
export type { ImagePart, ImagePartOptions, ImageSource, NamedImage } from "./models/images/to-image-part.ts";
export { withImages } from "./models/images/with-images.ts";
export { localModel } from "./models/local/local-model.ts";
export type { LocalModelOptions } from "./models/local/scene.ts";
export type {
  FinishReason,
  Model,
  ModelAnswer,
  ModelCall,
  ModelContent,
  ModelMessage,
  ModelPart,
  ModelPrompt,
  ModelStream,
  ModelTool,
  ModelUsage,
} from "./models/model.ts";
export type { CallStyle } from "./models/prompted/call-draft.ts";
export type { CallProblem, FoundCall } from "./models/prompted/check-call.ts";
export { parseToolCalls } from "./models/prompted/parse-tool-calls.ts";
export type { ParsedToolCalls, ParseToolCallsOptions } from "./models/prompted/parse-tool-calls.ts";
export { promptTools } from "./models/prompted/prompt-tools.ts";
export type { PromptToolsOptions } from "./models/prompted/prompt-tools.ts";
export { readPartialJson } from "./models/prompted/read-partial-json.ts";
export { repairToolInput } from "./models/prompted/repair-tool-input.ts";
export type { RepairedInput } from "./models/prompted/repair-tool-input.ts";
export type { CallableTool } from "./models/prompted/tool-index.ts";
export { resolveModel } from "./models/resolve/resolve-model.ts";
export type { ResolveModelOptions } from "./models/resolve/resolve-model.ts";
export type { Clock as ModelClock } from "./platform/clock.ts";
export type { ModelError, ModelErrorCode } from "./models/retry/to-model-error.ts";
export type { TimeLimits } from "./models/retry/time-limits.ts";
export { withRetries } from "./models/retry/with-retries.ts";
export type { Retry, RetryOptions } from "./models/retry/with-retries.ts";
export { balance } from "./models/route/balance.ts";
export type { BalancedModel, BalanceOptions, Outage } from "./models/route/balance.ts";
export { describePlaces, toOriginalBox, toOriginalPoint } from "./models/images/places.ts";
export type { ImageBox, ImagePoint, OriginalImage, PlaceOptions, SeeingModel } from "./models/images/places.ts";
export { auto } from "./models/route/auto.ts";
export type { AutoOptions } from "./models/route/auto-options.ts";
export { fallback } from "./models/route/fallback.ts";
export type { Fallback, FallbackOptions } from "./models/route/fallback.ts";
export { choose } from "./models/table/choose.ts";
export type { Choice, ChooseOptions, ModelNeeds } from "./models/table/choose.ts";
export { listServerModels } from "./models/servers/list-server-models.ts";
export type { ListServerModelsOptions } from "./models/servers/list-server-models.ts";
export type { ServerModel } from "./models/servers/server-model.ts";
export { withSettings } from "./models/resolve/with-settings.ts";
export type { ModelSettings } from "./models/resolve/with-settings.ts";
export { asModel } from "./models/shims/as-model.ts";
export type { AnyModel } from "./models/shims/as-model.ts";
export { estimateCost, type CostEstimate, type EstimatedQuestion } from "./models/prices/estimate-cost.ts";
export type { OwnPrice, OwnPrices } from "./models/prices/own-prices.ts";
export { createPriceOf, type PriceOf, type PriceOptions } from "./models/prices/price-of.ts";
export { contextWindowOf, type ContextWindows } from "./models/tokens/context-window.ts";
export { estimateMessageTokens, estimatePromptTokens, estimateToolTokens } from "./models/tokens/estimate-tokens.ts";
export type { CountingModel, PromptParts } from "./models/tokens/estimate-tokens.ts";
export { toEmbedder, type EmbedderSource, type EmbeddingModel } from "./models/embed/to-embedder.ts";
export type { Embedder } from "./core/embedder.ts";
