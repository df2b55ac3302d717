import { isKnownEnding } from "./file-endings.ts";
import { parseSpokenDate } from "./date-words.ts";
import { hasHalf, parseFraction } from "./fraction-words.ts";
import { countJoined } from "./joined-names.ts";
import { numberedItems } from "./numbered-items.ts";
import { parseSpokenNumber, type SpokenNumber } from "./number-words.ts";
import { readTokens } from "./read-tokens.ts";
import { type Token, wordAt } from "./token.ts";

/** A request, or a part of one, taken apart. */
export interface Request {
  readonly text: string;
  readonly tokens: readonly Token[];
  /** The day on which it is said, if anybody told. */
  readonly today?: string;
}

/** Takes a request apart; `today` (an ISO date) is what "tomorrow" counts from. Without it such words mean no certain day. */
export function readRequest(text: string, today?: string): Request {
  const tokens = markSelectors(joinTokens(text, markList(text, dropTitles(readTokens(text))), today));
  return { text, tokens, ...(today !== undefined && { today }) };
}

/** The part of a request from one of its tokens up to another one. */
export function sliceRequest(request: Request, from: number, to: number): Request {
  const tokens = request.tokens.slice(from, to);
  const start = tokens[0]?.start ?? 0;
  const text = request.text.slice(start, tokens.at(-1)?.end ?? start);
  return {
    ...request,
    text,
    tokens: tokens.map((token) => ({ ...token, start: token.start - start, end: token.end - start })),
  };
}

/** "Dr. Weber" is called Weber. */
function dropTitles(tokens: readonly Token[]): Token[] {
  const isTitle = (at: number): boolean => /^(?:dr|mr|mrs|ms|prof)$/u.test(wordAt(tokens, at));
  const isName = (at: number): boolean => /^\p{Lu}\p{Ll}/u.test(tokens[at]?.text ?? "");
  return tokens.filter((token, at) => {
    if (isTitle(at)) return !isName(tokens[at + 1]?.text === "." ? at + 2 : at + 1);
    return token.text !== "." || !isTitle(at - 1) || !isName(at + 1);
  });
}

/** The numbers of "1. … 2. …" are no values, and what they count stands as behind a colon. */
function markList(text: string, tokens: readonly Token[]): Token[] {
  if (numberedItems(text).items.length === 0) return [...tokens];
  let next = 1;
  let hasColon = false;
  return tokens.flatMap((token, at) => {
    hasColon ||= token.text === ":";
    const isMarker = /^[.)]$/u.test(tokens[at + 1]?.text ?? "") && token.kind === "number" && token.value === next;
    if (!isMarker) return [token];
    next += 1;
    const colon: Token = { kind: "mark", text: ":", word: "", stem: "", start: token.start, end: token.start };
    return [...(next === 2 && at > 0 && !hasColon ? [colon] : []), { ...token, kind: "mark" }];
  });
}

const dataFile = /\.(?:json|jsonl|ya?ml|toml|xml|ini)$/iu;
const fileEnding = /\.(?:bak|old|new|orig|tmp|lock|conf|cfg|env|dist|sample|example|backup|schema)$/iu;

/** "server.port in config.json" is a place in a file and no file of its own. */
function markSelectors(tokens: readonly Token[]): Token[] {
  const isFile = (at: number): boolean => tokens[at]?.kind === "path" && dataFile.test(tokens[at].text);
  return tokens.map((token, at) => {
    const isDotted = token.kind === "path" && /^[a-z_][\w-]*(?:\.[a-z_][\w-]*)+$/iu.test(token.text);
    if (!isDotted || isKnownEnding(token.text) || fileEnding.test(token.text)) return token;
    const isBefore = /^(?:in|of|from|inside)$/u.test(wordAt(tokens, at + 1)) && isFile(at + 2);
    // "In config.json, what is server.port?"
    const isBehind = (file: number): boolean => isFile(file) && /^(?:in|from)$/u.test(wordAt(tokens, file - 1));
    const isPlace = isBefore || Array.from({ length: 20 }, (_, back) => at - 1 - back).some(isBehind);
    return isPlace ? { ...token, kind: "selector" } : token;
  });
}

/** Numbers and dates in words, and names with an "and", become one token. */
function joinTokens(text: string, tokens: readonly Token[], today: string | undefined): Token[] {
  const joined: Token[] = [];
  for (let at = 0; at < tokens.length;) {
    const token = tokens[at] as Token;
    const found = toDate(text, tokens, at, today) ?? toNumber(text, tokens, at) ?? toName(text, tokens, at);
    joined.push(found?.token ?? (token.kind === "date" ? { value: token.text, ...token } : token));
    at += found?.count ?? 1;
  }
  return joined;
}

interface Joined {
  readonly token: Token;
  readonly count: number;
}

function wordsFrom(tokens: readonly Token[], at: number): string[] {
  const next = tokens.slice(at, at + 12);
  return next.map(({ kind, word, text }) =>
    kind === "word" ? word : kind === "number" || kind === "mark" ? text : "",
  );
}

function toDate(text: string, tokens: readonly Token[], at: number, today: string | undefined): Joined | undefined {
  const words = wordsFrom(tokens, at);
  let found = parseSpokenDate(words, today);
  let extra = 0;
  // "two weeks ago", "in two weeks": the number may be in words.
  for (const place of found === undefined ? [0, 1] : []) {
    const spoken = parseSpokenNumber(words.slice(place));
    if (spoken === undefined) continue;
    found = parseSpokenDate(words.toSpliced(place, spoken.count, String(spoken.value)), today);
    extra = spoken.count - 1;
    if (found !== undefined) break;
  }
  if (found === undefined) return undefined;
  const count = found.count + extra;
  const token = join("date", text, tokens.slice(at, at + count));
  if (found.iso === undefined) return { token, count };
  return { token: { ...token, value: found.iso, ...(found.isYearOpen === true && { isYearOpen: true }) }, count };
}

function toNumber(text: string, tokens: readonly Token[], at: number): Joined | undefined {
  const first = tokens[at] as Token;
  const words = wordsFrom(tokens, at);
  const digits = first.kind === "number" && typeof first.value === "number" ? first.value : undefined;
  if (first.kind !== "word" && digits === undefined) return undefined;
  const found =
    (digits === undefined ? parseFraction(words) : undefined) ?? withHalf(words, parseSpokenNumber(words, digits));
  if (found === undefined || (digits !== undefined && found.count === 1)) return undefined;
  // "the one", "one of them": a pronoun.
  if (first.word === "one" && found.count === 1 && isPronoun(tokens, at)) return undefined;
  return {
    token: { ...join("number", text, tokens.slice(at, at + found.count)), value: found.value },
    count: found.count,
  };
}

/** "Trinidad and Tobago" is one word. */
function toName(text: string, tokens: readonly Token[], at: number): Joined | undefined {
  const first = tokens[at] as Token;
  const count = first.kind === "word" ? countJoined(wordsFrom(tokens, at)) + 1 : 1;
  if (count === 1) return undefined;
  const whole = text.slice(first.start, tokens[at + count - 1]?.end);
  const end = first.start + whole.length;
  return { token: { ...first, text: whole, word: whole.toLowerCase(), end }, count };
}

/** "two and a half hours" */
function withHalf(words: readonly string[], spoken: SpokenNumber | undefined): SpokenNumber | undefined {
  return spoken !== undefined && hasHalf(words, spoken.count)
    ? { value: spoken.value + 0.5, count: spoken.count + 3 }
    : spoken;
}

function isPronoun(tokens: readonly Token[], at: number): boolean {
  const before = wordAt(tokens, at - 1);
  const after = wordAt(tokens, at + 1);
  return (
    /^(?:the|that|this|which|another|each|every|no|any|first|last|next|other)$/u.test(before) ||
    /^(?:of|that|which|is|)$/u.test(after)
  );
}

function join(kind: "date" | "number", text: string, tokens: readonly Token[]): Token {
  const start = tokens[0]?.start ?? 0;
  const end = tokens.at(-1)?.end ?? start;
  return { kind, text: text.slice(start, end), word: "", stem: "", start, end };
}
