import { KitbagError } from "../../core/errors.ts";
import { showValue } from "../../core/json.ts";
import type { Model, ModelMessage } from "../../models/model.ts";
import { expectedName, isModelName } from "../../models/prices/name-table.ts";
import type { ContextWindows } from "../../models/tokens/context-window.ts";
import { findWrongOption, type Expectations } from "../../workspace/options/find-wrong-option.ts";

/** How what is left out of a conversation is put together; `false`: not at all. */
export type SummaryKind = "extractive" | "model" | "hybrid" | false;

/** How long a conversation may become, and what stays of it. See `docs/guide/memory.md`. */
export interface MemoryOptions {
  /** Without system messages; at least 8. @default none */
  readonly maxMessages?: number;
  /**
   * Estimated tokens of the conversation, without the system text and the tools; at least 256. In any case no more than the model
   * takes. @default what the model takes, with room for its answer
   */
  readonly maxTokens?: number;
  /**
   * How what is left out is put together: `extractive` picks sentences and costs nothing, `model` asks a model, `hybrid` asks a model
   * about what was picked. @default "extractive"
   */
  readonly summarise?: SummaryKind;
  /** The model that is asked for summaries. @default the model of the run */
  readonly summaryModel?: Model | string;
  /** How long it may take before sentences are picked instead. @default 60,000 */
  readonly summaryTimeoutMs?: number;
  /** How many of the last messages stay, as far as there is room. @default 4 */
  readonly keepRecent?: number;
  /**
   * Context windows in tokens, by `provider/model` or a beginning of it with `*` behind; `Infinity` is no limit. @default as Kitbag
   * knows them; 32,768 for models that it does not know, and none for its own
   */
  readonly windows?: ContextWindows;
  /** Tells which messages stay. Messages with `providerOptions.kitbag.pinned` stay too. It must always say the same of a message. */
  readonly pin?: (message: ModelMessage) => boolean;
}

/** The smallest number of tokens that something can be said within. */
export const leastTokens = 256;

/** The same of messages. */
const leastMessages = 8;

const summaryKinds: ReadonlySet<unknown> = new Set<SummaryKind>(["extractive", "model", "hybrid", false]);

/** What each may be is looked at one by one, below. */
const known = [() => true, ""] as const;
const expectations: Expectations<MemoryOptions> = {
  maxMessages: known,
  maxTokens: known,
  summarise: known,
  summaryModel: known,
  summaryTimeoutMs: known,
  keepRecent: known,
  windows: known,
  pin: known,
};

/**
 * Checks what is said about memory.
 *
 * @throws {KitbagError} `option-invalid`
 */
export function checkMemoryOptions(options: MemoryOptions = {}): void {
  const wrong = findWrongOption(options, expectations, "memory");
  if (wrong !== undefined) throw new KitbagError("option-invalid", wrong);
  const { summarise = "extractive", summaryModel = "local", pin = () => false, windows = {} } = options;
  checkNumber("maxMessages", options.maxMessages, leastMessages);
  checkNumber("maxTokens", options.maxTokens, leastTokens);
  checkNumber("keepRecent", options.keepRecent, 0);
  checkNumber("summaryTimeoutMs", options.summaryTimeoutMs, 1);
  if (!summaryKinds.has(summarise)) refuse(".summarise", summarise, '"extractive", "model", "hybrid" or false');
  if (typeof summaryModel !== "string" && typeof summaryModel?.doStream !== "function") {
    refuse(".summaryModel", summaryModel, "a model, or the name of one");
  }
  if (typeof pin !== "function") refuse(".pin", pin, "a function that tells which messages stay");
  checkWindows(windows);
}

function checkWindows(windows: ContextWindows): void {
  if (typeof windows !== "object" || windows === null) refuse(".windows", windows, "an object");
  for (const [name, tokens] of Object.entries(windows)) {
    if (!isModelName(name)) refuse(".windows", name, expectedName);
    if (typeof tokens !== "number" || !(tokens > 0)) refuse(`.windows["${name}"]`, tokens, "a number above 0");
  }
}

function checkNumber(name: string, value: unknown, least: number): void {
  if (value === undefined || (typeof value === "number" && value >= least)) return;
  refuse(`.${name}`, value, `a number that is at least ${least}`);
}

function refuse(path: string, found: unknown, expected: string): never {
  throw new KitbagError("option-invalid", { option: `memory${path}`, found: showValue(found), expected });
}
