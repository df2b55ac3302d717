import type { ModelMessage } from "../../models/model.ts";
import { countText } from "../../models/tokens/count-text.ts";
import { type CountingModel, estimateMessageTokens, estimateToolTokens } from "../../models/tokens/estimate-tokens.ts";
import { familyOf } from "../../models/providers.ts";
import { readNativeChange } from "../../models/tool-changes.ts";

/** The fields of a message part that are read here. There are other types of parts. */
export interface AnyPart {
  readonly type?: string;
  readonly text?: unknown;
  readonly toolCallId?: string;
  readonly toolName?: string;
  readonly input?: unknown;
  readonly output?: { readonly type?: string; readonly value?: unknown; readonly reason?: unknown };
  readonly mediaType?: string;
  readonly providerExecuted?: boolean;
}

/** The parts of a message; none if it has none that can be read. */
export function partsOf({ content }: Pick<ModelMessage, "content">): readonly AnyPart[] {
  if (typeof content === "string") return [{ type: "text", text: content }];
  return Array.isArray(content) ? content.filter(isPart) : [];
}

function isPart(part: unknown): part is AnyPart {
  return typeof part === "object" && part !== null;
}

/** What a message says, without calls, results, reasoning and files. */
export function textOfMessage(message: Pick<ModelMessage, "content">): string {
  return partsOf(message)
    .flatMap(({ type, text }) => (type === "text" && typeof text === "string" && text !== "" ? [text] : []))
    .join("\n");
}

/** The outcome of a call, as text. */
export function textOfResult({ output }: AnyPart): string {
  const { type, value, reason } = output ?? {};
  if (typeof value === "string") return value;
  if (type === "content" && Array.isArray(value)) return textOfMessage({ content: value as never });
  if (value === undefined) return typeof reason === "string" ? reason : "";
  return toJsonText(value);
}

/** A value as JSON; nothing if it has none. */
export function toJsonText(value: unknown): string {
  try {
    return JSON.stringify(value) ?? "";
  } catch {
    return "";
  }
}

/** Counts the tokens of a text. */
export type CountTokens = (text: string) => number;

/** The share of a shortened text that is its beginning; the rest is its end. */
const headShare = 0.7;
/** About how many tokens the note between beginning and end has. */
const noteTokens = 16;

/** A text of at most `maxTokens` tokens: its beginning and its end, with a note of what is missing between them. */
export function cutToTokens(text: string, maxTokens: number, count: CountTokens): string {
  const tokens = count(text);
  if (tokens <= maxTokens) return text;
  if (maxTokens < 2 * noteTokens) return shorten(text, maxTokens, count, cutHead);
  return shorten(text, maxTokens, count, cutMiddle);
}

type Cut = (text: string, length: number) => string;

function shorten(text: string, maxTokens: number, count: CountTokens, cut: Cut): string {
  const tokens = Math.max(1, count(text));
  let length = Math.min(text.length - 1, Math.floor((text.length * maxTokens) / tokens));
  while (length > 0) {
    const made = cut(text, length);
    if (count(made) <= maxTokens) return made;
    length = Math.floor(length * 0.85);
  }
  return "";
}

/** The beginning of a text, with `…` behind. */
export function cutHead(text: string, length: number): string {
  if (text.length <= length) return text;
  return `${text.slice(0, endOf(text, Math.max(0, length - 1)))}…`;
}

function cutMiddle(text: string, length: number): string {
  const head = endOf(text, Math.floor(length * headShare));
  const tail = endOf(text, text.length - (length - head));
  const left = (tail - head).toLocaleString("en-US");
  return `${text.slice(0, head)}\n[… ${left} characters are left out here …]\n${text.slice(tail)}`;
}

/** A place at or before `index` that is not inside of a character. */
function endOf(text: string, index: number): number {
  const isInside = isHigh(text.charCodeAt(index - 1)) && isLow(text.charCodeAt(index));
  return isInside ? index - 1 : index;
}

function isHigh(code: number): boolean {
  return code >= 0xd800 && code < 0xdc00;
}

function isLow(code: number): boolean {
  return code >= 0xdc00 && code < 0xe000;
}

/** Counts tokens as one model does. */
export interface TokenCounter {
  readonly model: CountingModel;
  readonly text: CountTokens;
  messages(messages: readonly ModelMessage[]): number;
}

/** Makes a counter for a model. */
export function createTokenCounter(model: CountingModel): TokenCounter {
  const key = familyOf(model) === "claude" ? "claude" : "usual";
  return {
    model,
    text: (text) => countText(text)[key],
    messages: (messages) => messages.reduce((sum, message) => sum + countSaid(message, model), 0),
  };
}

/** About how many tokens a message has of a conversation. Tools that it announces are tools, as those in the list are. */
export function countSaid(message: ModelMessage, model: CountingModel): number {
  return estimateMessageTokens(message, model) - countAnnounced(message, model);
}

/** About how many tokens the tools have that a message announces. */
export function countAnnounced(message: ModelMessage, model: CountingModel): number {
  const change = readNativeChange(message);
  return change === undefined ? 0 : change.added.reduce((sum, tool) => sum + estimateToolTokens(tool, model), 0);
}
