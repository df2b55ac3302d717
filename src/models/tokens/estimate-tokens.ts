import type { ImageSize } from "../images/image-file.ts";
import type { Model, ModelMessage, ModelTool } from "../model.ts";
import { type ContentCount, countMessage, countTool } from "./count-content.ts";
import { countText, type TokenCount } from "./count-text.ts";
import { familyOf, type TokenFamily } from "../providers.ts";

/** A prompt: all that counts as input tokens. */
export interface PromptParts {
  readonly system?: string;
  readonly messages: readonly ModelMessage[];
  readonly tools?: readonly ModelTool[];
}

/** The properties of a model that decide how it counts tokens. */
export type CountingModel = Pick<Model, "provider" | "modelId">;

/** Stands for no model: the count is that of most vocabularies. */
const anyModel: CountingModel = { provider: "", modelId: "" };

/**
 * Estimates how many tokens a message costs. The count of a message is remembered, so do not change the message afterwards.
 *
 * @example
 * ```ts
 * import { estimateMessageTokens } from "kitbag/models";
 *
 * const tokens = estimateMessageTokens({ role: "user", content: [{ type: "text", text: "How warm is it in Rome?" }] });
 * console.assert(tokens > 7 && tokens < 14);
 * ```
 */
export function estimateMessageTokens(message: ModelMessage, model: CountingModel = anyModel): number {
  return toTokens(countMessage(message), familyOf(model));
}

/**
 * Estimates how many tokens a tool costs in the list of a model: its name, its description, its schema and its examples.
 *
 * @example
 * ```ts
 * import { estimateToolTokens } from "kitbag/models";
 *
 * const tokens = estimateToolTokens({
 *   type: "function",
 *   name: "weather",
 *   description: "Tells how warm it is in a city.",
 *   inputSchema: { type: "object", properties: { city: { type: "string" } } },
 * });
 * console.assert(tokens > 20 && tokens < 60);
 * ```
 */
export function estimateToolTokens(tool: ModelTool, model: CountingModel = anyModel): number {
  return toTokens(countTool(tool), familyOf(model));
}

/**
 * Estimates how many tokens a prompt costs. Counts are remembered: if a list of messages has grown, only the new messages are counted.
 *
 * @example
 * ```ts
 * import { estimatePromptTokens } from "kitbag/models";
 *
 * const messages = [{ role: "user" as const, content: [{ type: "text" as const, text: "Hello" }] }];
 * const model = { provider: "anthropic.messages", modelId: "claude-sonnet-4-5" };
 * console.assert(estimatePromptTokens({ system: "Be brief.", messages }, model) < 20);
 * ```
 */
export function estimatePromptTokens({ system = "", messages, tools = [] }: PromptParts, model: CountingModel): number {
  const family = familyOf(model);
  return countSystem(system)[keyOf(family)] + sumOf(messages, family) + sumOfTools(tools, family);
}

/** The tokens of a count, in one family of models. */
export function toTokens(count: ContentCount, family: TokenFamily): number {
  let tokens = count[keyOf(family)];
  for (const size of count.images) tokens += imageTokens(size, family);
  return tokens;
}

function keyOf(family: TokenFamily): keyof TokenCount {
  return family === "claude" ? "claude" : "usual";
}

/** The tokens of the first `count` messages of a list. */
interface Summed {
  readonly family: TokenFamily;
  count: number;
  tokens: number;
  /** The last of these messages. If the list has another message in this place, it was changed, and the sum is wrong. */
  last: ModelMessage | undefined;
}

const sums = new WeakMap<readonly ModelMessage[], Summed>();

function sumOf(messages: readonly ModelMessage[], family: TokenFamily): number {
  let sum = sums.get(messages);
  if (sum === undefined || sum.family !== family || sum.last !== messages[sum.count - 1]) {
    sums.set(messages, (sum = { family, count: 0, tokens: 0, last: undefined }));
  }
  for (; sum.count < messages.length; sum.count += 1) {
    sum.last = messages[sum.count] as ModelMessage;
    sum.tokens += toTokens(countMessage(sum.last), family);
  }
  return sum.tokens;
}

const ofTools = new WeakMap<readonly ModelTool[], Map<TokenFamily, number>>();

/** Lists of tools do not change: other tools come in a new list. */
function sumOfTools(tools: readonly ModelTool[], family: TokenFamily): number {
  let byFamily = ofTools.get(tools);
  if (byFamily === undefined) ofTools.set(tools, (byFamily = new Map()));
  let tokens = byFamily.get(family);
  if (tokens === undefined) {
    tokens = tools.reduce((sum, tool) => sum + toTokens(countTool(tool), family), 0);
    byFamily.set(family, tokens);
  }
  return tokens;
}

const maxSystems = 32;
const systems = new Map<string, TokenCount>();

/** There are few system texts, they are long, and each is counted for many requests. */
function countSystem(text: string): TokenCount {
  let count = systems.get(text);
  if (count === undefined) {
    if (systems.size >= maxSystems) systems.clear();
    systems.set(text, (count = text === "" ? { usual: 0, claude: 0 } : countText(text)));
  }
  return count;
}

/** Estimates how many tokens an image costs, by the rules that the providers publish. */
function imageTokens(size: ImageSize, family: TokenFamily): number {
  switch (family) {
    case "claude":
      return claudeTokens(size);
    case "gemini":
      return geminiTokens(size);
    case "usual":
      return tileTokens(size);
  }
}

/** Anthropic scales an image down until its longest side has 1,568 pixels, and counts a token for 750 pixels. */
function claudeTokens(size: ImageSize): number {
  const { width, height } = shrink(size, 1568 / Math.max(size.width, size.height));
  return Math.min(1600, Math.ceil((width * height) / 750));
}

/** Google counts 258 tokens for a small image, and for each tile of 768 by 768 pixels of a larger one. */
function geminiTokens({ width, height }: ImageSize): number {
  if (width <= 384 && height <= 384) return 258;
  return 258 * Math.ceil(width / 768) * Math.ceil(height / 768);
}

/** OpenAI scales an image down to 2,048 pixels, then its shorter side to 768, and counts 170 tokens for each tile of 512 by 512 pixels. */
function tileTokens(size: ImageSize): number {
  const fitting = shrink(size, 2048 / Math.max(size.width, size.height));
  const { width, height } = shrink(fitting, 768 / Math.min(fitting.width, fitting.height));
  return 85 + 170 * Math.ceil(width / 512) * Math.ceil(height / 512);
}

function shrink({ width, height }: ImageSize, factor: number): ImageSize {
  if (!(factor < 1)) return { width, height };
  return { width: Math.max(1, Math.floor(width * factor)), height: Math.max(1, Math.floor(height * factor)) };
}
