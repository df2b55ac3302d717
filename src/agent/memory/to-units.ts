import type { ModelMessage } from "../../models/model.ts";
import { markOf } from "./kitbag-mark.ts";
import { partsOf, textOfMessage, type AnyPart } from "./message-text.ts";
import type { TokenCounter } from "./token-counter.ts";

/** Messages that stay together or go together: one, or an answer with the results of its calls. */
export interface Unit {
  readonly role: "system" | "user" | "assistant";
  readonly messages: readonly ModelMessage[];
  readonly tokens: number;
  /** Where it stood in the conversation: its first message, and what came behind it. */
  readonly start: number;
  readonly end: number;
}

/** A conversation, taken apart. */
export interface TakenApart {
  readonly units: readonly Unit[];
  /** What earlier compactions said about what they left out. */
  readonly summary: string;
  /** Behind how many units they said it. */
  readonly summaryAt: number;
}

type ToolMessage = Extract<ModelMessage, { role: "tool" }>;

/**
 * Takes a conversation apart. Results without a call are in no unit, nor are calls without a result, unless they are the last that
 * happened; what earlier compactions put in is taken out.
 */
export function toUnits(messages: readonly ModelMessage[], counter: TokenCounter): TakenApart {
  const units: Unit[] = [];
  const summaries: string[] = [];
  let summaryAt = 0;
  let end = 0;
  for (const [start, message] of messages.entries()) {
    if (start < end) continue;
    end = message.role === "assistant" ? endOfResults(messages, start + 1) : start + 1;
    if (markOf(message).summary === true) {
      summaries.push(textOfMessage({ content: partsOf(message).slice(0, 1) as never }));
      summaryAt = units.length;
    } else if (isUnit(message)) {
      const kept = pair(message, messages.slice(start + 1, end) as readonly ToolMessage[], end === messages.length);
      const tokens = counter.messages(kept);
      if (kept.length > 0) units.push({ role: message.role, messages: kept, tokens, start, end });
    }
  }
  return { units, summary: summaries.join("\n"), summaryAt };
}

function isUnit(message: ModelMessage): message is Exclude<ModelMessage, ToolMessage> {
  return message.role !== "tool" && markOf(message).gap !== true && partsOf(message).length > 0;
}

function endOfResults(messages: readonly ModelMessage[], start: number): number {
  let end = start;
  while (messages[end]?.role === "tool") end += 1;
  return end;
}

/** An answer and the results of its calls. The same objects, if nothing has to be changed: they are counted already. */
function pair(
  answer: Exclude<ModelMessage, ToolMessage>,
  results: readonly ToolMessage[],
  isLast: boolean,
): readonly ModelMessage[] {
  const asked = new Set(partsOf(answer).filter(isOwnCall).map(idOf));
  const [first] = results;
  if (asked.size === 0) return [answer];
  const found = new Set<string>();
  const content = results.flatMap((message) => partsOf(message)).filter((part) => isResultOf(part, asked, found));
  const all = results.reduce((sum, message) => sum + partsOf(message).length, 0);
  const tools: readonly ModelMessage[] =
    first === undefined || content.length === 0
      ? []
      : [results.length === 1 && content.length === all ? first : { ...first, content: content as never }];
  if (found.size === asked.size || isLast) return [answer, ...tools];
  const rest = partsOf(answer).filter((part) => !isOwnCall(part) || found.has(idOf(part)));
  // Reasoning alone is no answer.
  const says = rest.some(({ type }) => type !== "reasoning");
  return says ? [{ ...answer, content: rest as never }, ...tools] : [];
}

function isOwnCall({ type, providerExecuted }: AnyPart): boolean {
  return type === "tool-call" && providerExecuted !== true;
}

function idOf({ toolCallId }: AnyPart): string {
  return String(toolCallId);
}

function isResultOf(part: AnyPart, asked: ReadonlySet<string>, found: Set<string>): boolean {
  if (part.type !== "tool-result") return true;
  const id = idOf(part);
  if (!asked.has(id) || found.has(id)) return false;
  found.add(id);
  return true;
}
