import type { JsonValue } from "../../../core/json.ts";
import { readFormalPiece } from "./formal-pieces.ts";
import { isEmptyWord, toStem } from "./stems.ts";
import type { Token, TokenKind } from "./token.ts";

/** More of a request is text to work on, not something to understand. */
export const longestRequest = 8000;

interface Rule {
  readonly kind: TokenKind;
  /** Sticky, and of a form that takes time in proportion to what it matches. */
  readonly pattern: RegExp;
  /** The value for a match; `undefined` if it is none after all. */
  readonly toValue?: (match: RegExpExecArray) => JsonValue | undefined;
}

const closingOf: Readonly<Record<string, string>> = {
  '"': '"',
  "'": "'",
  "`": "`",
  "“": "”",
  "‘": "’",
  "«": "»",
  "„": "“",
};

const commonHosts = /\.(?:com|org|net|io|dev|edu|gov|info|co|uk|de|fr|eu|app|ai|example|test|local)$/iu;

const multipliers: Readonly<Record<string, number>> = { k: 1e3, m: 1e6, bn: 1e9 };

const rules: readonly Rule[] = [
  { kind: "url", pattern: /https?:\/\/[^\s<>"'`]{1,2000}/iuy },
  { kind: "email", pattern: /[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,6}/uy },
  {
    kind: "pair",
    pattern: /[\p{L}_][\w.-]{0,60}(?:!=|>=|<=|==|=)(?:"[^"\n]{0,500}"|'[^'\n]{0,500}'|[^\s,;"']{1,500})/uy,
  },
  { kind: "flag", pattern: /--?[a-z][\w-]{1,60}(?:=(?:"[^"\n]{0,500}"|[^\s"]{1,500}))?(?![\w/])/iuy },
  {
    kind: "date",
    pattern: /\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:?\d{2})?)?(?![\w-])/uy,
  },
  { kind: "date", pattern: /\d{4}\/\d{1,2}\/\d{1,2}(?![\w/])/uy, toValue: ([text]) => isoDate(text.split("/")) },
  {
    kind: "date",
    pattern: /\d{1,2}\.\d{1,2}\.\d{4}(?![\w.])/uy,
    toValue: ([text]) => isoDate(text.split(".").toReversed()),
  },
  { kind: "url", pattern: /\d{1,3}(?:\.\d{1,3}){3}(?::\d{1,5})?(?![\w.-])/uy },
  { kind: "reference", pattern: /[A-Z]{2}\d{2}(?: ?[A-Z0-9]{2,4}){3,8}(?![\w])/uy },
  {
    kind: "reference",
    pattern: /\+?\d{1,20}(?:[ -]\d{1,20}){1,8}(?![\w.,-]*\d)/uy,
    toValue: ([text]) => toReference(text),
  },
  {
    kind: "expression",
    pattern:
      /(?:[-\d(]|(?:sqrt|sin|cos|tan|log|ln|exp|abs|round|min|max|pow)\()(?:[\d\s.()+*/^%×÷,-]|sqrt|sin|cos|tan|log|ln|exp|abs|round|min|max|pow|pi){0,300}[\d)](?![\w%])/iuy,
    toValue: ([text]) => toExpression(text),
  },
  {
    kind: "range",
    pattern: /\d{1,9}-\d{1,9}(?:(?:, ?(?:and )?| and )\d{1,9}(?:-\d{1,9})?){1,50}(?![\w.-])/uy,
    toValue: ([text]) => text.replaceAll(/(?:, ?(?:and )?| and )/gu, ","),
  },
  { kind: "range", pattern: /\d{1,9}-\d{0,9}(?:,\d{1,9}(?:-\d{0,9})?){0,50}(?![\w.])/uy },
  { kind: "range", pattern: /\d{1,9}(?:,\d{1,9}(?:-\d{0,9})?){0,50},\d{1,9}-\d{0,9}(?![\w.])/uy },
  { kind: "time", pattern: /\d{1,2}:\d{2}(?::\d{2})?(?: ?[ap]\.?m\b\.?)?(?!\w|:\d)/iuy },
  { kind: "time", pattern: /\d{1,2} ?[ap]\.?m\b\.?/iuy },
  {
    kind: "number",
    pattern: /[-+]?[$€£]?(?:\d{1,3}(?:,\d{3}){1,6}|\d{1,40})(?:\.\d{1,40})?(?:e[+-]?\d{1,3})? ?(?:%|percent\b)/iuy,
    toValue: toNumber,
  },
  {
    kind: "number",
    pattern:
      /[-+]?[$€£]?(?:\d{1,3}(?:,\d{3}){1,6}(?!\d)|\d{1,40})(?:\.\d{1,40})?(?:e[+-]?\d{1,3})?(?:k|m|bn)?(?![\w/]|\.\w|-\w)/iuy,
    toValue: toNumber,
  },
  { kind: "number", pattern: /\d{1,6}(?=[x×]\d{1,6}(?:px)?(?![\w.]))/iuy, toValue: toNumber },
  {
    kind: "number",
    pattern: /[-+]?\d{1,40}(?:\.\d{1,40})?(?=(?!st\b|nd\b|rd\b|th\b)(?:[a-zµ]{1,4}|°[cf]?)(?![\w.]))/iuy,
    toValue: toNumber,
  },
  {
    kind: "selector",
    pattern:
      /\$?(?:[\p{L}_$][\w$-]{0,60})?(?:\.{1,2}[\w$*]{1,60}|\[[^\]\s]{0,60}\]){0,20}\[[^\]\s]{0,60}\](?:\.{1,2}[\w$*]{1,60}|\[[^\]\s]{0,60}\]){0,20}/uy,
  },
  { kind: "selector", pattern: /(?:\$\.|\.\.)[\w$*][\w$*.]{0,100}(?![/\w])/uy },
  {
    kind: "path",
    pattern: /(?:[~.]{0,2}\/|[a-z]:\\)?[\w@*?+%#-][\w@*?+%#.-]{0,200}(?:[/\\][\w@*?+%#.-]{0,200}){1,40}/iuy,
    toValue: ([text]) => toPath(text),
  },
  { kind: "path", pattern: /(?:\.{1,2}|~)?\/[\w@*+%#.-]{1,200}|(?:\.{1,2}|~)\/|\/(?=[\s,;]|$)/uy },
  {
    kind: "path",
    pattern: /[\w@*?+-][\w@*?+.-]{0,200}\.[a-z][a-z0-9]{0,7}(?![\w])/iuy,
    toValue: ([text]) => toFileName(text),
  },
  { kind: "path", pattern: /\.[a-z][\w-]{1,40}(?:\.[\w-]{1,20}){0,3}(?![\w/])/iuy },
  { kind: "word", pattern: /(?:[\p{L}]{1,40}!)?[A-Z]{1,3}\d{1,6}:[A-Z]{1,3}\d{1,6}(?![\w:])/uy },
  {
    kind: "word",
    pattern: /[\p{L}\p{N}_#@][\p{L}\p{N}\p{M}_]{0,200}(?:(?:['’.+-]|\.\.)[\p{L}\p{N}\p{M}_]{1,200}){0,30}(?:\+\+|#)?/uy,
  },
];

/** Takes a request apart, in time in proportion to its length. */
export function readTokens(request: string): Token[] {
  const text = request.slice(0, longestRequest);
  const tokens: Token[] = [];
  let brackets = 0;
  for (let at = 0; at < text.length;) {
    const character = text[at] as string;
    if (/\s/u.test(character)) {
      at += 1;
      continue;
    }
    const isBracket = character === "{" || character === "[";
    if (isBracket) brackets += 1;
    // A literal value may be long; looking for its end from every bracket would take forever.
    const json = isBracket && brackets <= 8 ? readJson(text, at) : undefined;
    const token =
      readQuoted(text, at) ?? json ?? readFormal(text, at) ?? readRule(text, at) ?? toToken("mark", text, at, at + 1);
    tokens.push(token);
    at = token.end;
    for (const side of readSides(text, token)) {
      tokens.push(side);
      at = side.end;
    }
  }
  return tokens;
}

const sidesPattern = /(?<![\w.])(\d{1,6})[x×](\d{1,6})(?=(?:px)?(?![\w.]))/iuy;

/** The second number of "800x600", of which the first was read already. */
function readSides(text: string, { kind, start, end }: Token): Token[] {
  sidesPattern.lastIndex = start;
  const [, first = "", second = ""] = kind === "number" ? (sidesPattern.exec(text) ?? []) : [];
  if (first === "" || end !== start + first.length) return [];
  return [{ ...toToken("number", text, end + 1, end + 1 + second.length), value: Number(second) }];
}

function toToken(kind: TokenKind, text: string, start: number, end: number): Token {
  const shown = text.slice(start, end);
  const word = kind === "word" ? shown.toLowerCase() : "";
  const [stem = ""] = word === "" || isEmptyWord(word) ? [] : toStem(word.replaceAll(/[^\p{L}\p{N}]/gu, ""));
  return { kind, text: shown, word, stem, start, end };
}

function readFormal(text: string, at: number): Token | undefined {
  const piece = readFormalPiece(text, at);
  return piece === undefined ? undefined : toToken(piece.kind, text, at, piece.end);
}

function readRule(text: string, at: number): Token | undefined {
  // In the middle of a word there begins nothing.
  const isInside = at > 0 && /[\p{L}\p{N}]/u.test(text[at - 1] as string);
  for (const rule of rules) {
    const token = isInside && rule.kind !== "word" ? undefined : applyRule(rule, text, at);
    if (token !== undefined) return token;
  }
  return undefined;
}

function applyRule({ kind, pattern, toValue }: Rule, text: string, at: number): Token | undefined {
  pattern.lastIndex = at;
  const match = pattern.exec(text);
  const length = match === null ? 0 : trimEnd(match[0], kind);
  if (match === null || length === 0) return undefined;
  const value = toValue?.(match);
  if (toValue !== undefined && value === undefined) return undefined;
  const isHost = kind === "path" && commonHosts.test(match[0]) && !/[/\\]/u.test(match[0]);
  const token = toToken(isHost ? "url" : kind, text, at, at + length);
  return value === undefined || kind === "path" ? token : { ...token, value };
}

/** The length without what ends a sentence and not the value. */
function trimEnd(match: string, kind: TokenKind): number {
  if (kind === "url") return match.replace(/[.,;:!?)\]}]{1,20}$/u, "").length;
  if (kind === "path" || kind === "pair")
    return match.length > 2 ? match.replace(/[.?]{1,20}$/u, "").length : match.length;
  return match.length;
}

function readQuoted(text: string, at: number): Token | undefined {
  if (text.startsWith("```", at)) {
    const end = text.indexOf("```", at + 3);
    if (end === -1) return undefined;
    const value = text
      .slice(at + 3, end)
      .replace(/^[\w+-]{0,20}\n/u, "")
      .replace(/\n$/u, "");
    return { ...toToken("code", text, at, end + 3), value };
  }
  const closing = closingOf[text[at] as string];
  if (closing === undefined || /[\p{L}\p{N}]/u.test(text[at - 1] ?? " ")) return undefined;
  const end = findClosing(text, closing, at + 1);
  if (end === -1 || (text[at] === "'" && end - at > 500)) return undefined;
  return { ...toToken("quoted", text, at, end + 1), value: text.slice(at + 1, end) };
}

/** Where the quotes close. An apostrophe inside a word does not end what is between two of them. */
function findClosing(text: string, closing: string, from: number): number {
  for (let end = text.indexOf(closing, from); end !== -1; end = text.indexOf(closing, end + 1)) {
    const isApostrophe = closing === "'" && /[\p{L}\p{N}]/u.test(text[end + 1] ?? " ");
    if (!isApostrophe) return end;
  }
  return -1;
}

function readJson(text: string, at: number): Token | undefined {
  let depth = 0;
  let isText = false;
  for (let index = at; index < text.length; index++) {
    const character = text[index];
    if (isText) {
      if (character === "\\") index += 1;
      else if (character === '"') isText = false;
    } else if (character === '"') isText = true;
    else if (character === "{" || character === "[") depth += 1;
    else if (character === "}" || character === "]") depth -= 1;
    if (depth > 60) return undefined;
    if (depth === 0) return toJsonToken(text, at, index + 1);
  }
  return undefined;
}

function toJsonToken(text: string, at: number, end: number): Token | undefined {
  try {
    return { ...toToken("json", text, at, end), value: JSON.parse(text.slice(at, end)) as JsonValue };
  } catch {
    return undefined;
  }
}

/** Reads "1,000", "3.5", "2k", "$5" and "15%" (which is 15). */
function toNumber([text]: RegExpExecArray): number | undefined {
  const [, digits = "", suffix = ""] =
    /^([-+]?[\d.,]+(?:e[+-]?\d+)?) ?(k|m|bn|%|percent)?$/iu.exec(text.replace(/[$€£]/u, "")) ?? [];
  const number = Number(digits.replaceAll(",", "")) * (multipliers[suffix.toLowerCase()] ?? 1);
  return digits !== "" && Number.isFinite(number) ? number : undefined;
}

/** Numbers with something to do between them. A bare hyphen is left to ranges, dates and signs. */
function toExpression(text: string): string | undefined {
  const hasOperator = /\d\s*[+*/^%×÷]\s*[-(\da-z]|[\d)]\s+-\s+[(\da-z]|\)\s*[-+*/^]|[a-z]\(/iu.test(text);
  const isBalanced = text.split("(").length === text.split(")").length;
  return hasOperator && isBalanced && !/\d,\s|\n|\d\s+\d/u.test(text.replaceAll(/[a-z]\([^()]{0,200}\)/giu, ""))
    ? text
    : undefined;
}

/** Groups of digits are one number of something (a card, a book, a telephone) if there are enough of them. */
function toReference(text: string): string | undefined {
  return text.replaceAll(/\D/gu, "").length >= 8 ? text : undefined;
}

function toPath(text: string): string | undefined {
  // "and/or", "km/h" and "3/4" are no paths.
  if (/^\d+\/\d+$/u.test(text) || /^(?:and\/or|either\/or|he\/she|yes\/no|true\/false|km\/h|n\/a)$/iu.test(text))
    return undefined;
  return text;
}

function toFileName(text: string): string | undefined {
  return /^(?:(?:e\.g|i\.e|a\.m|p\.m)\.?$|etc\.|v?\d+\.[a-z]$|vs\.|no\.)/iu.test(text) || text.includes("..")
    ? undefined
    : text;
}

function isoDate([year = "", month = "", day = ""]: readonly string[]): string | undefined {
  const isDate = Number(month) >= 1 && Number(month) <= 12 && Number(day) >= 1 && Number(day) <= 31;
  return isDate ? `${year}-${month.padStart(2, "0")}-${day.padStart(2, "0")}` : undefined;
}
