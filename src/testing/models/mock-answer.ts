import type { SharedV4ProviderMetadata } from "@ai-sdk/provider";

import type { JsonValue } from "../../core/json.ts";
import type { FinishReason, ModelCall, ModelPart } from "../../models/model.ts";
import type { ProviderErrorFacts } from "./provider-error.ts";

/** A call that a mock model asks for. */
export interface MockCall {
  readonly tool: string;
  /** Text is sent as it is, so that it need not be JSON. */
  readonly input?: JsonValue;
  /** @default made up, the same in each run */
  readonly id?: string;
}

/** What a mock model thinks, with what its provider wants to have back: a signature, say. */
export interface MockReasoning {
  readonly text: string;
  /** `{ anthropic: { signature: "…" } }` */
  readonly metadata?: SharedV4ProviderMetadata;
}

/** A file that a mock model makes: a picture, say. */
export interface MockFile {
  readonly mediaType: string;
  /** Bytes, or base64. */
  readonly data: Uint8Array | string;
}

/** The tokens that a mock model says it used. */
export interface MockUsage {
  /** @default counted by characters */
  readonly input?: number;
  readonly output?: number;
  /** Of the input: read from the provider's cache, and written to it. @default 0 */
  readonly cacheRead?: number;
  readonly cacheWrite?: number;
  /** Of the output. @default 0 */
  readonly reasoning?: number;
}

/** An answer of a mock model that is more than text. */
export interface MockAnswerParts {
  readonly reasoning?: string | MockReasoning;
  readonly text?: string;
  readonly files?: readonly MockFile[];
  readonly calls?: readonly MockCall[];
  readonly finishReason?: FinishReason["unified"];
  readonly usage?: MockUsage;
  /** Thrown when it is asked. */
  readonly error?: unknown;
  /** The provider refuses to answer: thrown when it is asked, as the error of a provider's package is. */
  readonly refused?: ProviderErrorFacts;
  /** Sent as an error part after everything else: the answer breaks off. */
  readonly breaks?: unknown;
  /** The connection is gone after everything else: there is no end, and the stream rejects with this. */
  readonly drops?: unknown;
  /** After this many parts the stream ends: as if it were complete, or as `breaks` or `drops` say. */
  readonly cutAfter?: number;
  /** How long it takes until the first part, and between parts. */
  readonly delayMs?: number;
  readonly partDelayMs?: number;
  /** Sent as they are, before everything else. */
  readonly parts?: readonly ModelPart[];
}

/** What a mock model answers: text, or more than that. */
export type MockAnswer = string | MockAnswerParts;

/** A function that answers a question, at once or later. */
type MockReply = (call: ModelCall) => MockAnswer | Promise<MockAnswer>;

/** Answers from a list, or a function that answers each question. */
export type MockScript = readonly (MockAnswer | MockReply)[] | MockReply;

/** What may be said about a mock model. */
export interface MockModelOptions {
  readonly provider?: string;
  readonly modelId?: string;
  /** Waits. @default by the clock */
  readonly wait?: (ms: number, signal: AbortSignal | undefined) => Promise<void>;
}
