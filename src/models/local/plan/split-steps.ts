import { isCommandVerb } from "../match/danger.ts";
import { sliceRequest, type Request } from "../text/read-request.ts";
import { isValueToken, textAt, type Token, wordAt } from "../text/token.ts";
import { speaksOfBefore } from "./recall-value.ts";
import { splitListed } from "./split-listed.ts";

/** What a part of a request would be done with; `undefined` if it is nothing to do by itself. */
export type TaskOf = (part: Request) => PartTask | undefined;

interface PartTask {
  readonly name: string;
  readonly isSure: boolean;
  /** Whether it has a use for every value in the part. */
  readonly isFull: boolean;
}

/** Nobody writes more in one message; a hostile text may. */
const mostSteps = 20;

/**
 * Takes "… then …", numbered lists, sentences and "… and …" apart. Where a word alone does not say that something new begins, both
 * sides must be things to do: "buy milk and bread" is one.
 */
export function splitSteps(request: Request, taskOf: TaskOf): Request[] {
  const listed = splitListed(request).slice(0, mostSteps);
  const isList = listed.length > 1 && listed.filter((part) => taskOf(part) !== undefined).length > listed.length / 2;
  if (isList) return listed;
  const spans = mergeSpans(request, toSpans(request.tokens), taskOf);
  return spans
    .flatMap((span) => splitAtAnd(request, span, taskOf))
    .slice(0, mostSteps)
    .map((span) => slice(request, span));
}

/** A part of a request: its tokens from `from` up to `to`. */
interface Span {
  readonly from: number;
  readonly to: number;
  /** Whether a word says that it is a step of its own. */
  readonly isNext: boolean;
}

function slice(request: Request, { from, to }: Span): Request {
  const part = sliceRequest(request, from, to);
  const [first] = part.tokens;
  // What was too long to be read is still text of the last step.
  return to < request.tokens.length || first === undefined
    ? part
    : { ...part, text: request.text.slice(request.tokens[from]?.start) };
}

/** What joins two steps: the tokens from `from` up to `to`. */
interface Cut extends Span {}

const starters = /^(?:then|afterwards|finally|next|lastly)$/u;

function toSpans(tokens: readonly Token[]): Span[] {
  const spans: Span[] = [];
  let from = 0;
  let isNext = false;
  for (let at = 1; at < tokens.length - 1 && spans.length < mostSteps; at++) {
    const cut = cutAt(tokens, at);
    if (cut === undefined) continue;
    if (cut.from > from) spans.push({ from, to: cut.from, isNext });
    ({ to: from, isNext } = cut);
    at = cut.to - 1;
  }
  return from < tokens.length ? [...spans, { from, to: tokens.length, isNext }] : spans;
}

function cutAt(tokens: readonly Token[], at: number): Cut | undefined {
  const { word, text } = tokens[at] as Token;
  const next = tokens[at + 1] as Token;
  // "the next three days" is no new step.
  if (starters.test(word) && (word !== "next" || next.text === ",")) {
    return { from: backOver(tokens, at), to: next.text === "," ? at + 2 : at + 1, isNext: true };
  }
  if (word === "after" && /^(?:that|this|which)$/u.test(next.word)) {
    return { from: backOver(tokens, at), to: textAt(tokens, at + 2) === "," ? at + 3 : at + 2, isNext: true };
  }
  const isEnd = text === ";" || (/^[.?!]$/u.test(text) && /^\p{L}/u.test(next.text));
  return isEnd ? { from: at, to: at + 1, isNext: false } : undefined;
}

/** A comma and an "and" before the word belong to the joint. */
function backOver(tokens: readonly Token[], at: number): number {
  let from = at;
  if (/^(?:and|but)$/u.test(wordAt(tokens, from - 1))) from -= 1;
  if (/^[,;.]$/u.test(textAt(tokens, from - 1))) from -= 1;
  return from;
}

/** What is nothing to do by itself belongs to what is before it. */
function mergeSpans(request: Request, spans: readonly Span[], taskOf: TaskOf): Span[] {
  const merged: Span[] = [];
  for (const span of spans) {
    const before = merged.at(-1);
    if (before === undefined || isOwn(slice(request, before), slice(request, span), span.isNext, taskOf))
      merged.push(span);
    else merged[merged.length - 1] = { ...before, to: span.to };
  }
  return merged;
}

function isOwn(before: Request, part: Request, isNext: boolean, taskOf: TaskOf): boolean {
  const task = taskOf(part);
  const hasColon = before.tokens.some(({ text }) => text === ":");
  if (taskOf(before) === undefined) return false;
  // Whoever says "then tell me …" has a step in mind, whether there is something for it or not.
  if (task === undefined) return isNext && beginsTask(part) && !hasColon;
  if (!isNext && !beginsTask(part)) return false;
  // "what does x mean? look it up": the same, said again.
  if (!isNext && task.name === taskOf(before)?.name && speaksOfBefore(part) && !hasValue(part)) return false;
  // Behind a colon there is a text, and what sounds like a step may be part of it.
  return task.isSure || !hasColon;
}

/** "count the words and check the links": two things to do. */
function splitAtAnd(request: Request, span: Span, taskOf: TaskOf): Span[] {
  const { tokens } = request;
  const colon = tokens.findIndex(({ text }, at) => at >= span.from && text === ":");
  const end = Math.min(span.to - 1, span.from + 60, colon === -1 ? span.to : colon);
  for (let at = span.from + 2; at < end; at++) {
    if (tokens[at]?.word !== "and") continue;
    const left = { ...span, to: textAt(tokens, at - 1) === "," ? at - 1 : at };
    const right = { ...span, from: at + 1 };
    if (isMore(slice(request, span), slice(request, left), slice(request, right), taskOf)) continue;
    if (areTasks(slice(request, left), slice(request, right), taskOf))
      return [left, ...splitAtAnd(request, right, taskOf)];
  }
  return [span];
}

/** "download … and save it as b.zip": a value behind the "and" that the first thing to do has a use for. */
function isMore(whole: Request, left: Request, right: Request, taskOf: TaskOf): boolean {
  if (!hasValue(right) || !right.tokens.some(({ word }) => /^(?:it|them)$/u.test(word))) return false;
  const task = taskOf(whole);
  return task?.isSure === true && task.isFull && task.name === taskOf(left)?.name;
}

function hasValue({ tokens }: Request): boolean {
  return tokens.some((token) => isValueToken(token) && token.kind !== "number" && token.kind !== "flag");
}

const asking = /^(?:how|what|which|who|is|are)$/u;

function areTasks(left: Request, right: Request, taskOf: TaskOf): boolean {
  if (!beginsTask(right)) return false;
  const first = taskOf(left);
  const second = taskOf(right);
  if (first === undefined || second === undefined) return false;
  // "find the errors and show one a line" says more about one thing; something to do it with would make it two.
  const areQuestions = [left, right].every(({ tokens }) => asking.test(wordAt(tokens, 0)));
  return hasValue(right) || areQuestions || (first.name !== second.name && (second.isSure || speaksOfBefore(right)));
}

const verbs = new Set(
  (
    "add append average book calculate check compare compute convert copy count create delete describe diff display divide download email encode " +
    "extract fetch find finish format generate get give group hash how inspect insert is list look make mark measure move multiply open play print " +
    "put query rate read remind remove rename replace reverse roll run save search send set show sort split start store sum summarise summarize " +
    "take tell test tick translate turn update upload validate verify view what which who write"
  ).split(" "),
);

/** Tells whether a part begins as something to do does: with a verb, or a question. */
function beginsTask({ tokens }: Request): boolean {
  const first = tokens.find(
    ({ word }) => !/^(?:also|please|now|and|can|could|would|you|i|want|to|let|me|us|kindly)$/u.test(word),
  );
  return first !== undefined && (verbs.has(first.word) || isCommandVerb(first.stem));
}
