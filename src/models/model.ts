import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4Content,
  LanguageModelV4FinishReason,
  LanguageModelV4FunctionTool,
  LanguageModelV4GenerateResult,
  LanguageModelV4Message,
  LanguageModelV4Prompt,
  LanguageModelV4StreamPart,
  LanguageModelV4StreamResult,
  LanguageModelV4Usage,
} from "@ai-sdk/provider";

/** What answers: a model of any provider of the AI SDK, or one of Kitbag's own. */
export type Model = LanguageModelV4;

/** One question to a model. */
export type ModelCall = LanguageModelV4CallOptions;

/** What a model is shown, in order. */
export type ModelPrompt = LanguageModelV4Prompt;

/** One message of a prompt. */
export type ModelMessage = LanguageModelV4Message;

/** A tool as a model sees it. */
export type ModelTool = LanguageModelV4FunctionTool;

/** A part of an answer that is complete. */
export type ModelContent = LanguageModelV4Content;

/** A part of a streamed answer. Providers may send part types that Kitbag does not know: ignore them. */
export type ModelPart = LanguageModelV4StreamPart;

/** A whole answer. */
export type ModelAnswer = LanguageModelV4GenerateResult;

/** An answer on its way. */
export type ModelStream = LanguageModelV4StreamResult;

/** Why an answer ended. */
export type FinishReason = LanguageModelV4FinishReason;

/** What an answer used. */
export type ModelUsage = LanguageModelV4Usage;
