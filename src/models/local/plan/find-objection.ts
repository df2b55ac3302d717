import { parametersOf } from "../fill/parameter.ts";
import { toolWordsOf } from "../fill/tool-words.ts";
import { isChanging } from "../match/danger.ts";
import type { Request } from "../text/read-request.ts";
import { isValueToken, textAt, type Token, wordAt } from "../text/token.ts";
import { findLostObject } from "./find-lost-object.ts";
import { findOtherDeed } from "./find-other-deed.ts";
import type { Fit } from "./fit-tool.ts";

/**
 * What of a request a tool that changes things would not heed, in the words of the request: a condition, a repetition, a trial, what
 * it is kept to, something else to do, or a value that the tool has no place for. `undefined` if there is nothing, or if the tool only reads.
 */
export function findObjection(request: Request, fit: Fit): string | undefined {
  if (!isChanging(fit.tool)) return undefined;
  return (
    findCondition(request, fit) ??
    findRepetition(request, fit) ??
    findTrial(request, fit) ??
    findHedge(request, fit) ??
    findRestriction(request, fit) ??
    findOtherChoice(request, fit) ??
    findOtherDeed(request, fit) ??
    findLostObject(request, fit) ??
    findUnused(request, fit)
  );
}

function textOf({ text, tokens }: Request, from: number, to: number): string {
  return text.slice(tokens[from]?.start, tokens[to - 1]?.end);
}

/** "if it rains": whether that is so nobody has found out. */
function findCondition(request: Request, { filled }: Fit): string | undefined {
  const { tokens } = request;
  const isClause = (at: number): boolean =>
    /^(?:if|unless|whenever|once|until)$/u.test(wordAt(tokens, at)) ||
    // "after 5 pm" is a time, "when the ship has left" is not.
    (/^(?:when|while|after|before)$/u.test(wordAt(tokens, at)) && tokens[at + 1]?.kind === "word");
  const from = tokens.findIndex((_, at) => isClause(at) && !filled.covered.has(at));
  if (from === -1) return undefined;
  const end = tokens.findIndex(({ text, word }, at) => at > from && (text === "," || word === "then"));
  const to = end === -1 ? tokens.length : end;
  return tokens.slice(from + 1, to).some(({ kind }) => kind === "word") ? textOf(request, from, to) : undefined;
}

/** "every Monday" is more than a Monday. */
function findRepetition(request: Request, { filled }: Fit): string | undefined {
  const { tokens } = request;
  const from = tokens.findIndex(({ word }, at) => {
    const next = tokens[at + 1];
    const isTime =
      next?.kind === "date" || /^(?:day|week|month|year|hour|minute|morning|evening|night)s?$/u.test(next?.word ?? "");
    const isOften = /^(?:daily|weekly|monthly|yearly|hourly|annually|twice|thrice)$/u.test(word);
    return ((/^(?:every|each)$/u.test(word) && isTime) || isOften) && !filled.covered.has(at);
  });
  const isTwo = /^(?:every|each)$/u.test(wordAt(tokens, from));
  return from === -1 ? undefined : textOf(request, from, isTwo ? from + 2 : from + 1);
}

/** "preview it", "don't change anything yet": whoever says so wants nothing done. */
function findTrial(request: Request, { tool, filled }: Fit): string | undefined {
  const { tokens } = request;
  const own = toolWordsOf(tool).ownStems;
  const from = tokens.findIndex(({ word, stem }, at) => {
    if (filled.covered.has(at) || own.has(stem)) return false;
    const next = `${wordAt(tokens, at + 1)} ${wordAt(tokens, at + 2)}`;
    if (/^(?:preview|simulate|pretend|dry-run)$/u.test(word)) return true;
    if (/^(?:without|don't|not|no)$/u.test(word))
      return /^(?:chang|writ|sav|send|appl|do|doing)/u.test(next.trimStart());
    return word === "what" && /^would (?:change|happen|be)/u.test(next);
  });
  return from === -1 ? undefined : textOf(request, from, Math.min(tokens.length, from + 3));
}

/** "maybe we should delete it": whoever says so has not decided yet. */
function findHedge({ tokens }: Request, { filled }: Fit): string | undefined {
  const isHedge = ({ word }: Token, at: number): boolean =>
    /^(?:maybe|perhaps|possibly|probably|might|someday|eventually)$/u.test(word) && !filled.covered.has(at);
  return tokens.find(isHedge)?.text;
}

/** "only show what would change": that it is shown is not what it is kept to. */
const shows = /^(?:show|say|tell|list|print|see|report|check)$/u;

/** "all python files", "only the first page": what a change is kept to. */
function findRestriction(request: Request, { tool, filled }: Fit): string | undefined {
  const { tokens } = request;
  const own = toolWordsOf(tool).toolStems;
  for (const [from, { word }] of tokens.entries()) {
    if (!/^(?:all|every|each|only|just)$/u.test(word) || filled.covered.has(from)) continue;
    let to = from + 1;
    while (to < tokens.length && tokens[to]?.kind === "word" && !filled.covered.has(to)) to += 1;
    const isTold = tokens
      .slice(from + 1, to)
      .every(({ stem, word }) => stem === "" || own.has(stem) || shows.test(word));
    if (!isTold) return textOf(request, from, to);
  }
  return undefined;
}

/** "on in the office and off in the bathroom": one of two things would be done. */
function findOtherChoice({ tokens }: Request, { tool, filled }: Fit): string | undefined {
  const chosen = parametersOf(tool).filter(
    ({ name, choices }) => choices.length > 0 && Object.hasOwn(filled.input, name),
  );
  const isOther = ({ word }: Token): boolean =>
    chosen.some(({ name, choices }) => word !== filled.input[name] && choices.includes(word));
  const isJoined = (at: number): boolean =>
    /^(?:and|but|or)$/u.test(wordAt(tokens, at - 1)) || textAt(tokens, at - 1) === ",";
  return tokens.find((token, at) => !filled.covered.has(at) && isJoined(at) && isOther(token))?.text;
}

/** A day, a number, an address that went nowhere. */
function findUnused(request: Request, { tool, filled }: Fit): string | undefined {
  const own = toolWordsOf(tool).ownStems;
  const isLost = (token: Token, at: number): boolean =>
    isValueToken(token) && token.kind !== "flag" && !filled.covered.has(at) && !own.has(token.text.toLowerCase());
  const lost = request.tokens.findIndex(isLost);
  return lost === -1 ? undefined : request.tokens[lost]?.text;
}
