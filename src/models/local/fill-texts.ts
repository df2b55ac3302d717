import { findCued, freeOf, give, giveNamed, isLeft, openOf, type Draft } from "./draft.ts";
import type { Parameter } from "./parameters.ts";
import type { Token } from "./read-request.ts";

/** Texts: addresses, what is quoted, identifiers, and words behind the name of their parameter or a preposition. */
export function giveTexts(draft: Draft): void {
  giveMarked(draft);
  giveCued(draft);
  giveQuoted(draft);
  giveLoose(draft);
}

function isTextual({ type, takes, item }: Parameter): boolean {
  return item === undefined ? /any|string/u.test(type) && !/choice|date|email|url/u.test(takes) : isTextual(item);
}

/** Pieces that may be a text. "The sha256 of …" names what to do. */
function textsOf(draft: Draft, ...kinds: readonly Token["kind"][]): Token[] {
  return freeOf(draft, ...kinds).filter((one) => one.kind !== "id" || !draft.isOwn(one));
}

function giveMarked(draft: Draft): void {
  for (const token of textsOf(draft, "url", "email", "json", "quote", "id")) {
    const { kind, text } = token;
    const open = draft.parameters.filter((one) => one.type === "array" || !draft.values.has(one.name));
    const isOfKind = ({ takes, type, item }: Parameter): boolean =>
      (item?.takes ?? takes) === kind || (kind === "json" && /array|object/u.test(type));
    const cued = findCued(draft, open.filter(isTextual), draft.tokens.indexOf(token));
    const isLike = (one: Parameter): boolean => isTextual(one) && kind === "id" && isShapedLike(one, text);
    const isGiven = give(draft, open.find(isOfKind) ?? cued ?? open.find(isLike), text, [token]);
    if (isGiven && /email|url/u.test(kind)) draft.placed += 1;
  }
}

/** Whether the description of a parameter has an example like this: `main..HEAD`, `A1:B2`, `users[*].email`. */
function isShapedLike({ description }: Parameter, text: string): boolean {
  const [sign] = /\.\.|\[|:|@/u.exec(text) ?? [];
  return sign !== undefined && description.split(/\s/u).some((word) => word.slice(1, -1).includes(sign));
}

const longTexts = /(?:body|code|command|content|expression|message|note|pattern|query|regex|sql|text|title)$/iu;

/** What is quoted or an identifier, in the order of the parameters that need a text. */
function giveQuoted(draft: Draft): void {
  const isNeeded = openOf(draft).some((one) => one.isRequired && isTextual(one));
  const left = textsOf(draft, "quote", "id");
  for (const token of left) {
    const open = openOf(draft).filter((one) => isTextual(one) && (one.takes !== "file" || /[./]/u.test(token.text)));
    const needed = open.find(({ isRequired }) => isRequired);
    const optional = open.filter(({ takes }) => takes === "text");
    const only = !isNeeded && optional.length === 1 ? optional[0] : undefined;
    give(draft, needed ?? only, token.text, [token]);
  }
}

/** The words from `index` on that are left over. "Mexico City" is one name, whatever a city is. */
function runAt(draft: Draft, index: number): Token[] {
  const isName = ({ kind, text }: Token): boolean => kind === "word" && /^\p{Lu}/u.test(text);
  const isPart = (token: Token): boolean =>
    !token.isApart && !draft.used.has(token) && (isLeft(draft, token) || isName(token));
  const rest = draft.tokens.slice(index);
  const end = rest.findIndex((token, at) => !(at === 0 ? isLeft(draft, token) : isPart(token)));
  return rest.slice(0, end === -1 ? rest.length : end);
}

function textOf({ request }: Draft, run: readonly Token[]): string {
  return request.text.slice(run[0]?.start, run.at(-1)?.end);
}

const takesWords = ({ takes, item }: Parameter): boolean => (item?.takes ?? takes) === "text";

/** "Group by region": words behind the name of their parameter. */
function giveCued(draft: Draft): void {
  const close = { ...draft, isKnown: draft.isOwn };
  for (let at = 1; at < draft.tokens.length; at++) {
    const run = runAt(close, at);
    const parameter = findCued(
      draft,
      openOf(draft).filter((one) => isTextual(one) && takesWords(one)),
      at,
    );
    // A name of several words is one value; of ordinary words only the first is.
    const end = run.findIndex(({ text }) => !/^\p{Lu}/u.test(text));
    const value = run.slice(0, Math.max(1, end === -1 ? run.length : end));
    if (run.length === 0 || !giveNamed(draft, parameter, textOf(draft, value), value) || parameter?.type !== "array")
      continue;
    for (const next of draft.tokens.slice(at + 1)) {
      if (next.text.toLowerCase() === "and") continue;
      if (!isLeft(draft, next)) break;
      give(draft, parameter, next.text, [next]);
    }
  }
}

const prepositions = /^(?:about|at|called|for|from|in|into|named|of|on|to|with)$/iu;

/** "The weather in Lisbon": one parameter is missing, and some words are left over. */
function giveLoose(draft: Draft): void {
  const [parameter, ...others] = openOf(draft).filter(({ isRequired }) => isRequired);
  if (!draft.isLoose || others.length > 0 || parameter?.takes !== "text" || parameter.type === "array") return;
  if (longTexts.test(parameter.name) && parameter.name !== "query") return;
  const starts = [...draft.tokens.keys()].filter((at) => startsRun(draft, at));
  const [start = 0] = starts;
  const run = runAt(draft, start);
  if (starts.length === 1 && run.length <= 4 && isMarked(draft, start)) give(draft, parameter, textOf(draft, run), run);
}

function startsRun(draft: Draft, at: number): boolean {
  const token = draft.tokens[at];
  return isLeft(draft, token) && (token?.isApart === true || !isLeft(draft, draft.tokens[at - 1]));
}

/** Whether words are behind a preposition, a value or what the tool does. */
function isMarked(draft: Draft, start: number): boolean {
  const before = draft.tokens.slice(0, start).findLast(({ text }) => !/^(?:an?|the)$/iu.test(text));
  if (before === undefined) return false;
  return prepositions.test(before.text) || draft.used.has(before) || (draft.isOrdered && draft.isOwn(before));
}
