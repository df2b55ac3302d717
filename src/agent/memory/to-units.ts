import type { ModelMessage } from "../../models/model.ts";
import { markOf } from "./kitbag-mark.ts";
import { type AnyPart, partsOf, textOfMessage, textOfResult, toJsonText, type TokenCounter } from "./message-text.ts";

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

/** Units with this score or more are important. */
export const important = 2;

/** Words with which people say what they want to be so from now on, or what is settled. */
const userWords =
  /\b(?:always|never|must|prefer\w*|remember|important|from now on|don['’]t|do not|decided?|decision|agreed?|let['’]s (?:use|go with)|require[sd]?|constraint|deadline|budget|rule|my name is|call me|immer|nie|niemals|muss|wichtig|merke?|siempre|nunca|debe|prefiero|recuerda|toujours|jamais|doit|importante?)\b/iu;
const assistantWords =
  /\b(?:decided|decision|(?:I|we)(?:['’]ll| will) (?:use|go with)|agreed|the plan is|chose|conclusion|root cause|it turns out)\b/iu;

/** How many characters of a text are read: at its beginning and at its end. */
const headLength = 8000;
const tailLength = 2000;
/** The most marks of one unit that are remembered. */
const mostMarks = 400;

/** Tells whether a message states a standing instruction or a settled decision. */
export function saysWhatStays(text: string, role: Unit["role"]): boolean {
  return (role === "user" ? userWords : assistantWords).test(look(text));
}

/**
 * Says how important each unit is, from 0: what people decide and want, and results that are referred to later. A result is referred
 * to where something distinctive that was said in it for the first time, such as an id, a path or a number, is said again.
 */
export function scoreUnits(units: readonly Unit[]): readonly number[] {
  const scores = units.map(scoreText);
  const known = new Set<string>();
  const saidIn = new Map<string, number>();
  for (const [index, unit] of units.entries()) {
    for (const mark of marksIn(spokenIn(unit))) {
      const source = saidIn.get(mark);
      if (source !== undefined && source !== index) scores[source] = (scores[source] ?? 0) + weightOf(mark);
      // Once is enough: what is on everybody's lips is not worth more for it.
      saidIn.delete(mark);
      known.add(mark);
    }
    for (const mark of marksIn(resultsIn(unit))) {
      if (known.has(mark)) continue;
      known.add(mark);
      saidIn.set(mark, index);
    }
  }
  return scores;
}

function scoreText({ role, messages: [message] }: Unit): number {
  const text = message === undefined ? "" : textOfMessage(message);
  if (text === "") return 0;
  const base = role === "user" ? 1 : 0;
  return saysWhatStays(text, role) ? base + important : base;
}

function look(text: string): string {
  return text.length <= headLength + tailLength ? text : `${text.slice(0, headLength)} ${text.slice(-tailLength)}`;
}

function spokenIn({ messages: [message] }: Unit): string {
  if (message === undefined) return "";
  const inputs = partsOf(message).flatMap((part) => (part.type === "tool-call" ? [toJsonText(part.input)] : []));
  return [textOfMessage(message), ...inputs].map(look).join("\n");
}

function resultsIn({ messages: [, results] }: Unit): string {
  const isResult = ({ type }: AnyPart): boolean => type === "tool-result";
  return results === undefined ? "" : partsOf(results).filter(isResult).map(textOfResult).map(look).join("\n");
}

/** Ids, paths, names and numbers, and long words. */
function marksIn(text: string): ReadonlySet<string> {
  const marks = new Set<string>();
  for (const [word] of text.matchAll(/[\p{L}\p{N}_][\p{L}\p{N}_./:@-]{2,80}/gu)) {
    const mark = word.replace(/[./:@-]+$/u, "");
    if (weightOf(mark) > 0) marks.add(mark);
    if (marks.size === mostMarks) break;
  }
  return marks;
}

/** One id, path or number makes a result important; of words it takes several. */
function weightOf(mark: string): number {
  if (mark.length < 4) return 0;
  if (/[\d_/@]|\p{L}\.\p{L}/u.test(mark)) return important;
  return mark.length > 7 || /^\p{Lu}\p{Ll}/u.test(mark) ? 0.5 : 0;
}
