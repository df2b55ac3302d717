import { sliceRequest, type Request } from "../text/read-request.ts";
import type { Token } from "../text/token.ts";

/** Tells whether a part of a request is something to do by itself. */
export type IsTask = (part: Request) => boolean;

/** Nobody writes more in one message; a hostile text may. */
const mostSteps = 20;

/**
 * Takes "… then …", numbered lists and "… and …" apart. Where a word alone does not say that something new begins, both sides must be
 * things to do: "buy milk and bread" is one.
 */
export function splitSteps(request: Request, isTask: IsTask): Request[] {
  const listed = splitList(request);
  if (listed.length > 1 && listed.filter(isTask).length > listed.length / 2) return listed.slice(0, mostSteps);
  const parts = splitAtCuts(request, findCuts(request.tokens));
  const steps: Request[] = [];
  for (const part of parts) {
    const before = steps.at(-1);
    const isOwn = before === undefined || isTask(part.request);
    if (isOwn || before === undefined) steps.push(part.request);
    else steps[steps.length - 1] = join(request, before, part.request);
  }
  return steps.flatMap((step) => splitAtAnd(step, isTask)).slice(0, mostSteps);
}

interface Part {
  readonly request: Request;
}

/** A cut: the tokens from `from` to `to` are what joins two steps. */
interface Cut {
  readonly from: number;
  readonly to: number;
}

const starters = /^(?:then|afterwards|finally|next|lastly)$/u;

function findCuts(tokens: readonly Token[]): Cut[] {
  const cuts: Cut[] = [];
  for (let at = 1; at < tokens.length - 1 && cuts.length < mostSteps; at++) {
    const { word, text } = tokens[at] as Token;
    const next = tokens[at + 1] as Token;
    if (starters.test(word) && !(word === "next" && next.stem !== "" && tokens[at - 1]?.kind === "word")) {
      cuts.push({ from: backOver(tokens, at), to: next.text === "," ? at + 2 : at + 1 });
    } else if (word === "after" && /^(?:that|this|which)$/u.test(next.word)) {
      cuts.push({ from: backOver(tokens, at), to: tokens[at + 2]?.text === "," ? at + 3 : at + 2 });
    } else if (text === ";" || ((text === "." || text === "?" || text === "!") && /^\p{Lu}/u.test(next.text))) {
      cuts.push({ from: at, to: at + 1 });
    }
  }
  return cuts;
}

/** A comma and an "and" before the word belong to the joint. */
function backOver(tokens: readonly Token[], at: number): number {
  let from = at;
  if (/^(?:and|but)$/u.test(tokens[from - 1]?.word ?? "")) from -= 1;
  if (/^[,;.]$/u.test(tokens[from - 1]?.text ?? "")) from -= 1;
  return from;
}

function splitAtCuts(request: Request, cuts: readonly Cut[]): Part[] {
  const parts: Part[] = [];
  let from = 0;
  for (const cut of cuts) {
    if (cut.from > from) parts.push({ request: sliceRequest(request, from, cut.from) });
    from = Math.max(from, cut.to);
  }
  const rest = sliceRequest(request, from, request.tokens.length);
  // What was too long to be read is still text of the last step.
  const last = request.tokens[from];
  parts.push({ request: last === undefined ? rest : { ...rest, text: request.text.slice(last.start) } });
  return parts.filter((part) => part.request.tokens.length > 0).map((part) => ({ request: rebase(part.request) }));
}

/** Places of tokens count from the beginning of the text that they are in. */
function rebase({ text, tokens }: Request): Request {
  const shift = tokens[0]?.start ?? 0;
  return { text, tokens: tokens.map((token) => ({ ...token, start: token.start - shift, end: token.end - shift })) };
}

function join(whole: Request, left: Request, right: Request): Request {
  const from = whole.tokens.findIndex(
    ({ text, start }) => text === left.tokens[0]?.text && whole.text.startsWith(left.text, start),
  );
  const to = whole.tokens.findLastIndex(({ text }) => text === right.tokens.at(-1)?.text) + 1;
  return from === -1 || to <= from ? left : rebase(sliceRequest(whole, from, to));
}

/** "count the words and check the links": two things to do. */
function splitAtAnd(step: Request, isTask: IsTask): Request[] {
  const { tokens } = step;
  const colon = tokens.findIndex(({ text }) => text === ":");
  for (let at = 2; at < tokens.length - 1 && at < 60; at++) {
    const isAnd = tokens[at]?.word === "and" && (colon === -1 || at < colon);
    const verb = tokens[/^(?:also|please|tell|let)$/u.test(tokens[at + 1]?.word ?? "") ? at + 2 : at + 1];
    if (!isAnd || verb?.kind !== "word" || !isVerb(verb, tokens[at + 1] as Token)) continue;
    const end = tokens[at - 1]?.text === "," ? at - 1 : at;
    const left = rebase(sliceRequest(step, 0, end));
    const right = rebase(sliceRequest(step, at + 1, tokens.length));
    if (isTask(left) && isTask(right)) return [left, ...splitAtAnd(right, isTask)];
  }
  return [step];
}

const verbs = new Set(
  (
    "add append average calculate check compare compute convert copy count create delete describe diff display divide download email extract fetch find " +
    "finish format generate get give group hash inspect insert list look make mark measure move multiply open print query rate read remind remove " +
    "rename replace reverse run save search send show sort split store sum summarise summarize tell test translate update upload validate verify view what " +
    "which who how write"
  ).split(" "),
);

function isVerb(token: Token, first: Token): boolean {
  return verbs.has(token.word) || verbs.has(first.word);
}

/** Lines that begin with a number or a bullet. */
function splitList(request: Request): Request[] {
  const lines = request.text.split("\n").slice(0, 200);
  const items = lines.filter((line) => /^\s*(?:\d{1,2}[.)]|[-*•])\s+\S/u.test(line));
  const others = lines.filter((line) => line.trim() !== "").length - items.length;
  if (items.length >= 2 && others <= 1)
    return items.map((line) => toStep(request, line.replace(/^\s*(?:\d{1,2}[.)]|[-*•])\s+/u, "").trim()));
  const inline = [...request.text.slice(0, 4000).matchAll(/(?:^|\s)(\d{1,2})[.)]\s+/gu)];
  const isCounted = inline.length >= 2 && inline.every(([, digits], index) => Number(digits) === index + 1);
  if (!isCounted) return [];
  return inline.map((match, index) => {
    const text = request.text.slice(match.index + match[0].length, inline[index + 1]?.index ?? request.text.length);
    return toStep(request, text.replace(/[,;.]?\s*(?:and)?\s*$/u, "").trim());
  });
}

/** The tokens of a part of the text. */
function toStep(request: Request, text: string): Request {
  const start = request.text.indexOf(text);
  const tokens = request.tokens.filter((token) => token.start >= start && token.end <= start + text.length);
  return { text, tokens: tokens.map((token) => ({ ...token, start: token.start - start, end: token.end - start })) };
}
