import { nearestNames } from "../../../core/nearest.ts";
import { toSpokenExpression } from "../fill/spoken-expression.ts";
import { currencyCodeOf, isLanguageName, isUnitName } from "../fill/unit-names.ts";
import { toExtensionStems } from "../text/file-endings.ts";
import type { Request } from "../text/read-request.ts";
import { isFormOf, toStems } from "../text/stems.ts";
import { synonymsOf, synonymWordsOf } from "../text/synonyms.ts";
import { findTold } from "../text/told-message.ts";
import { isCode, type Token, type TokenKind, wordAt } from "../text/token.ts";

/** A word of a request, as it is looked for. */
export interface QueryWord {
  readonly stem: string;
  /** As it was said, if it is a word: see {@link toForm}. */
  readonly form?: string;
  /** How much it counts: what is behind a colon is more likely a value. */
  readonly share: number;
  readonly isFirst: boolean;
  /** What it was probably meant to be, if nobody knows it. */
  readonly meant?: string;
  /** Whether it is the format of a file, by its ending. */
  readonly isFormat: boolean;
  /** Whether nobody said it, and the form of what was said speaks for it: what means about the same is too far away. */
  readonly isImplied: boolean;
}

/** What the form of a value says about what is to be done with it. */
const impliedBy: Readonly<Record<string, string>> = {
  expression: "calculate math",
  url: "url web",
  email: "email",
  date: "date",
  reference: "number",
  sql: "sql query database",
  command: "command shell terminal",
  regex: "regex regexp pattern",
};

const impliesMuch = /^(?:expression|sql|command)$/u;

/** Where a word of a query comes from. */
interface Origin {
  readonly kind?: TokenKind;
  readonly said?: string | undefined;
  readonly isImplied?: boolean;
}

/** A word as it is written, but for the "s" of plurals and verbs. */
export function toForm(word: string): string {
  return word.toLowerCase().replace(/s$/u, "");
}

/** The words that a request is looked for by; `spread` has those that are known. */
export function toQuery(request: Request, spread: ReadonlyMap<string, number>): QueryWord[] {
  const { tokens } = request;
  const words = new Map<string, QueryWord>();
  const colon = tokens.findIndex(({ text }) => text === ":");
  let isFirst = true;
  let typos = 0;
  const add = (stem: string, share: number, { kind, said, isImplied = false }: Origin = {}): void => {
    if ((words.get(stem)?.share ?? 0) >= share) return;
    const isTypo = kind === "word" && !isKnown(stem, spread) && typos < mostTypos;
    const isFormat = kind === "path" && stem !== "file" && !plainFormats.test(stem);
    if (isTypo) typos += 1;
    const meant = isTypo ? findMeant(stem, spread) : undefined;
    words.set(stem, {
      stem,
      share,
      isFirst,
      isFormat,
      isImplied,
      ...(said !== undefined && { form: toForm(said) }),
      ...(meant !== undefined && { meant }),
    });
  };
  for (const [at, token] of tokens.slice(0, 400).entries()) {
    const share = colon !== -1 && at > colon ? 0.25 : 1;
    // `web-01` is a value too, unless it is a word of the tools, as `sha-256` is.
    const isValue = isCode(token) && !spread.has(toStems(token.text).at(-1) ?? "");
    const said = token.kind === "word" && /^\p{L}+$/u.test(token.text) ? token.text : undefined;
    for (const [stem, part] of isValue ? [] : stemsOf(token)) add(stem, part * share, { kind: token.kind, said });
    if (token.stem !== "") isFirst = false;
  }
  // "How many" says it; the others are guessed.
  const implied = impliedWords(request);
  for (const stem of toStems(implied)) add(stem, 0.9, { isImplied: implied !== countWord });
  for (const stem of compoundStems(request, spread)) add(stem, 0.9);
  for (const [stem, share] of askedFor(wordAt(tokens, 0))) add(stem, share, { isImplied: true });
  return [...words.values()];
}

/** What a question asks for, by its first word: facts, and maybe people. */
function askedFor(first: string): readonly (readonly [stem: string, share: number])[] {
  if (!/^(?:how|who|when|is|are|does|do|was|has|which|what)$/u.test(first)) return [];
  const people = first === "who" ? toStems("person author").map((stem) => [stem, 0.4] as const) : [];
  return [["info", 0.25], ...people];
}

/** "sun rise" is "sunrise", and "wordcount" is a count of words: if that is what the tools speak of. */
function compoundStems({ tokens }: Request, spread: ReadonlyMap<string, number>): string[] {
  return tokens.slice(0, 60).flatMap(({ kind, word }, at) => {
    const isStrange = (text: string): boolean =>
      /^\p{L}{2,30}$/u.test(text) && !toStems(text).some((stem) => isKnown(stem, spread));
    const next = wordAt(tokens, at + 1);
    // "back up" is "backup"
    const phrasal = /^(?:up|down|out|in|off)$/u.test(next)
      ? toStems(`${word}${next}`).filter((stem) => spread.has(stem))
      : [];
    if (kind !== "word" || phrasal.length > 0 || !isStrange(word)) return phrasal;
    const joined = isStrange(next) ? toStems(`${word}${next}`).filter((stem) => spread.has(stem)) : [];
    if (joined.length > 0 || word.length < 7) return joined;
    for (let split = 3; split <= word.length - 3; split++) {
      const parts = [word.slice(0, split), word.slice(split)].flatMap((part) => toStems(part));
      if (parts.length === 2 && parts.every((part) => spread.has(part))) return parts;
    }
    return [];
  });
}

/** What is said about things that have a number of their own, and about numbers. */
const codeWords = ["details", "key", "id", "number", "code", "status"];
const numberWords = ["numbers", "compute", "calculate"];

/** The words that a request would be searched by, as they are written; `more` others that mean the same. */
export function toSearchWords(request: Request): { said: string[]; more: string[] } {
  const words = request.tokens.filter((token) => token.kind === "word" && token.stem !== "" && !isCode(token));
  const implied = [
    ...impliedWords(request).split(" "),
    ...request.tokens.flatMap(({ kind }) => impliedBy[kind]?.split(" ") ?? []),
  ].filter((word) => word !== "");
  const said = [...new Set([...words.slice(0, 16).map(({ text }) => text), ...implied])];
  const others = words.slice(0, 16).flatMap(({ stem }) => synonymWordsOf(stem));
  const isNumbered = request.tokens.filter(({ kind }) => kind === "number").length > 1;
  const forms = [...(request.tokens.some(isCode) ? codeWords : []), ...(isNumbered ? numberWords : [])];
  return { said, more: [...new Set([...others, ...forms])] };
}

const countWord = "count";

/** What numbers with their units, or arithmetic in words, are most likely for. */
function impliedWords({ text, tokens }: Request): string {
  if (toSpokenExpression(text) !== undefined) return "calculate arithmetic math";
  if (findTold({ tokens }) !== undefined) return "send message post";
  if (/^\s*what(?:'s| is| are)? (?:in|inside)\b/iu.test(text.slice(0, 40))) return "list contents";
  const isCounting = tokens.some(({ word }, at) => word === "how" && wordAt(tokens, at + 1) === "many");
  const units = new Set(tokens.filter(({ word }) => isUnitName(word)).map(({ word }) => word));
  const hasAmount = tokens.some(({ kind }, at) => kind === "number" && isUnitName(wordAt(tokens, at + 1)));
  const isMoney = [...units].every((unit) => currencyCodeOf(unit) !== undefined);
  if (hasAmount && units.size > 1) return isMoney ? "convert currency money" : "convert unit";
  if (hasAmount && isMoney && isAsked(tokens)) return "currency money";
  if (tokens.some((_, at) => isLanguageAt(tokens, at))) return "translate language";
  return isCounting ? countWord : "";
}

function isAsked(tokens: readonly Token[]): boolean {
  return /^(?:how|what|what's|whats)$/u.test(wordAt(tokens, 0));
}

/** "in Portuguese", "from German": what somebody wants said, and not what they speak about. */
function isLanguageAt(tokens: readonly Token[], at: number): boolean {
  return isLanguageName(wordAt(tokens, at)) && /^(?:in|into|to|from)$/u.test(wordAt(tokens, at - 1));
}

/** Binary and structured formats say what is to be done with a file; a text may be for anything. */
const plainFormats = /^(?:md|markdown|txt|html?|js|mjs|ts|py|sh|rb|log|rst)$/iu;

function stemsOf({ kind, text, stem }: Token): (readonly [string, number])[] {
  // `main..HEAD` is a value, whatever its parts mean.
  if (kind === "word" && text.includes("..")) return [];
  if (kind === "pair") return toStems(text).map((part) => [part, 0.8] as const);
  if (kind === "word") return stem === "" ? [] : toStems(text).map((part) => [part, 1] as const);
  if (kind === "path") {
    const [, extension = ""] = /\.([a-z][a-z0-9]{0,7})$/iu.exec(text) ?? [];
    const share = plainFormats.test(extension) ? 0.3 : 0.75;
    return [
      ...(extension === "" ? [] : toExtensionStems(extension)).map((part) => [part, share] as const),
      ["file", 0.3],
    ];
  }
  if (kind === "number" && /^\d{10,}$/u.test(text)) return [["number", 0.4]];
  return toStems(impliedBy[kind] ?? "").map((part) => [part, impliesMuch.test(kind) ? 1 : 0.4] as const);
}

function isKnown(stem: string, spread: ReadonlyMap<string, number>): boolean {
  return spread.has(stem) || synonymsOf(stem).size > 0;
}

/** Each of them is compared with every word there is. */
const mostTypos = 24;

/** A word of this length with one letter wrong is still that word; a shorter one may be any. */
const shortestTypo = 4;

function findMeant(stem: string, spread: ReadonlyMap<string, number>): string | undefined {
  if (stem.length < shortestTypo || /\d/u.test(stem)) return undefined;
  const near = nearestNames(stem, spread.keys(), 3);
  const typo = near.find(
    (name) => name.length >= shortestTypo && Math.abs(name.length - stem.length) <= 1 && sharesStart(name, stem),
  );
  return typo ?? near.find((name) => isFormOf(name, stem));
}

function sharesStart(left: string, right: string): boolean {
  return left[0] === right[0] || (left[0] === right[1] && left[1] === right[0]);
}
