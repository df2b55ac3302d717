import { isObject } from "../../core/json.ts";
import type { Model, ModelMessage } from "../../models/model.ts";
import { expectedName, isModelName } from "../../models/prices/name-table.ts";
import { contextWindowOf, type ContextWindows } from "../../models/tokens/context-window.ts";
import { estimatePromptTokens } from "../../models/tokens/estimate-tokens.ts";
import {
  type Expectations,
  findWrongOption,
  isAboveZero,
  isFunction,
} from "../../workspace/options/find-wrong-option.ts";
import type { MemoryCompacted } from "../events.ts";
import { aboveZero, aModel, anObject, refuse, refuseIf, type Expectation } from "../expectations.ts";
import type { ModelView } from "../exposure/exposure.ts";
import type { LongTermMemory } from "./long-term/long-term-memory.ts";

/** How the omitted part of a conversation is summarised; `false`: not at all. */
export type SummaryKind = "extractive" | "model" | "hybrid" | false;

/** How long a conversation may become, and what is kept of it. See `docs/guide/memory.md`. */
export interface MemoryOptions {
  /** Without system messages; at least 8. @default none */
  readonly maxMessages?: number;
  /**
   * Estimated tokens of the conversation, without the system text and the tools; at least 256. Never more than the context window of
   * the model. @default the context window, with room for the answer
   */
  readonly maxTokens?: number;
  /**
   * How the omitted part is summarised: `extractive` picks sentences and costs nothing, `model` asks a model, `hybrid` has a model
   * summarise the picked sentences. @default "extractive"
   */
  readonly summarise?: SummaryKind;
  /** The model that is asked for summaries. @default the model of the run */
  readonly summaryModel?: Model | string;
  /** How long the model may take before sentences are picked instead. @default 60,000 */
  readonly summaryTimeoutMs?: number;
  /** How many of the last messages are kept, as far as there is room. @default 4 */
  readonly keepRecent?: number;
  /**
   * Context windows in tokens, by `provider/model` or a beginning of it with `*` behind; `Infinity` is no limit. @default as Kitbag
   * knows them; 32,768 for models that it does not know, and none for its own
   */
  readonly windows?: ContextWindows;
  /** Remembers across conversations: what was said, and facts. See `openLongTermMemory`. @default none */
  readonly longTerm?: LongTermMemory;
  /** How many tokens of the long-term memory a run is shown, at most; with 0 only the tools of the memory show it. @default 800 */
  readonly recallTokens?: number;
  /** Selects messages to keep. Messages with `providerOptions.kitbag.pinned` are kept too. Must be deterministic. */
  readonly pin?: (message: ModelMessage) => boolean;
}

/** The smallest limit of tokens that is accepted. */
export const leastTokens = 256;

/** The smallest limit of messages that is accepted. */
const leastMessages = 8;

const summaryKinds: readonly unknown[] = ["extractive", "model", "hybrid", false] satisfies SummaryKind[];

const atLeast = (least: number): Expectation => [
  (value) => typeof value === "number" && value >= least,
  `a number that is at least ${least}`,
];

const expectations: Expectations<MemoryOptions> = {
  maxMessages: atLeast(leastMessages),
  maxTokens: atLeast(leastTokens),
  summarise: [(value) => summaryKinds.includes(value), '"extractive", "model", "hybrid" or false'],
  summaryModel: aModel,
  summaryTimeoutMs: atLeast(1),
  keepRecent: atLeast(0),
  windows: anObject,
  longTerm: [(value) => isObject(value) && "of" in value && isFunction(value.of), "a memory of openLongTermMemory"],
  recallTokens: atLeast(0),
  pin: [isFunction, "a function that tells which messages stay"],
};

/**
 * Checks what is said about memory.
 *
 * @throws {KitbagError} `option-invalid`
 */
export function checkMemoryOptions(options: MemoryOptions = {}): void {
  refuseIf(findWrongOption(options, expectations, "memory"));
  for (const [name, tokens] of Object.entries(options.windows ?? {})) {
    if (!isModelName(name)) refuse("memory.windows", name, expectedName);
    if (!isAboveZero(tokens)) refuse(`memory.windows["${name}"]`, tokens, aboveZero[1]);
  }
}

/** How long a conversation may be, without the system text and the tools. */
export interface ConversationLimits {
  readonly tokens: number;
  readonly messages: number;
}

/** The window assumed for a model whose window is unknown: at least this, and at least a multiple of its system text and tools. */
const unknownWindow = 32_768;
const unknownMultiple = 3;
/** The share of a window that stays free, because tokens are estimated. */
const margin = 0.1;
/** Room for an answer without a configured maximum: a share of the window, and no more than `mostAnswerTokens`. */
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

/** What a memory is told when a conversation is too long. */
export interface MemoryNeed {
  readonly run: string;
  readonly step: number;
  readonly model: Model;
  readonly view: ModelView;
  readonly messages: readonly ModelMessage[];
  /** How many of the messages were there before the run; `Infinity` if it was compacted since, and they are marked. */
  readonly earlier: number;
  /** The skills that are open, and their instructions: these stay, whatever else goes. */
  readonly skills: readonly string[];
  readonly instructions: () => string;
  readonly signal: AbortSignal;
}

/**
 * Keeps a conversation within its limits.
 *
 * **Contract**: a list of messages is only added to; after a compaction there is another one. `isFull` is asked before each question
 * and looks only at what is new. `fit` answers with the messages to go on with, in which no call is separated from its result, or with
 * nothing if the conversation is as short as it can be; it throws nothing but `hook-failed`.
 */
export interface Memory {
  /** Tells whether a conversation must become shorter before the model is asked. */
  isFull(view: ModelView, messages: readonly ModelMessage[]): boolean;
  /** Lowers the limit to half of what the conversation has now: the provider said that it is too long. */
  lower(view: ModelView, messages: readonly ModelMessage[]): void;
  fit(need: MemoryNeed): Promise<MemoryCompacted | undefined>;
}
