import { parseJson } from "./conversation.ts";
import { isFiller, stemsOf } from "./words.ts";

/** What a piece of a request is, as far as its form tells. */
export type TokenKind = "date" | "email" | "file" | "id" | "json" | "number" | "pair" | "quote" | "url" | "word";

/** A piece of a request. */
export interface Token {
  readonly kind: TokenKind;
  /** As it is written, without quotes. Of a pair (`key=value`) only the value. */
  readonly text: string;
  /** The name of a pair. `--key` alone has no text: the value may follow. */
  readonly key?: string;
  readonly start: number;
  readonly end: number;
  readonly stems: readonly string[];
  /** A word that need not be accounted for. */
  readonly isFiller: boolean;
  /** Whether a colon follows. */
  readonly hasColon: boolean;
  /** Whether a comma or another mark stands between it and the piece before. */
  readonly isApart: boolean;
}

/** A request, or one step of one, in pieces. */
export interface Request {
  readonly text: string;
  readonly tokens: readonly Token[];
  readonly isQuestion: boolean;
  /** Too long to be read as a whole. */
  readonly isCut: boolean;
}

/** What comes after this many characters is only read as the text behind a colon. */
const longest = 8000;

/** Reads a request. Takes time in proportion to its length. */
export function readRequest(text: string): Request {
  const tokens = readTokens(text.slice(0, longest));
  return { text, tokens, isQuestion: text.trimEnd().endsWith("?"), isCut: text.length > longest };
}

/** The steps of a request: what "then", a semicolon or a new line separates. Behind a colon everything is one text. */
export function splitSteps(text: string): string[] {
  const steps: string[] = [];
  let start = 0;
  let before: Token | undefined;
  for (const token of readTokens(text.slice(0, longest))) {
    const between = text.slice(before?.end ?? 0, token.start);
    const isThen = token.kind === "word" && token.text.toLowerCase() === "then";
    if (before !== undefined && (isThen || /[;\n]/u.test(between))) {
      steps.push(text.slice(start, before.end));
      start = isThen ? token.end : token.start;
    }
    if (token.hasColon && token.kind === "word" && !isThen) break;
    before = token;
  }
  steps.push(text.slice(start));
  return steps
    .map((step) =>
      step
        .replace(/[\s,]+(?:and)?\s*$/iu, "")
        .replace(/^(?:\d+[.)]\s|[-*]\s|first,?\s)\s*/iu, "")
        .trim(),
    )
    .filter((step) => /[\p{L}\p{N}]/u.test(step));
}

const quotes: Readonly<Record<string, string>> = { '"': '"', "'": "'", "`": "`", "“": "”", "‘": "’", "«": "»" };

function readTokens(text: string): Token[] {
  const tokens: Token[] = [];
  let isApart = false;
  for (let at = 0; at < text.length;) {
    const character = text[at] as string;
    if (/[\s,;:!?.()]/u.test(character) && !/^\.{1,2}[\w/]/u.test(text.slice(at, at + 3))) {
      isApart ||= !/\s/u.test(character);
      at += 1;
      continue;
    }
    const token = readQuote(text, at, isApart) ?? readJson(text, at, isApart) ?? readPlain(text, at, isApart);
    if (token.text !== "" || token.kind !== "word") tokens.push(token);
    isApart = false;
    at = token.end;
  }
  return tokens;
}

interface Piece extends Pick<Token, "kind" | "text" | "start" | "end" | "isApart"> {
  readonly key?: string;
}

function toToken(source: string, piece: Piece): Token {
  const isWord = piece.kind === "word";
  return {
    ...piece,
    stems: isWord || piece.kind === "id" ? stemsOf(piece.text) : [],
    isFiller: isWord && (isFiller(piece.text) || !/[\p{L}\p{N}]/u.test(piece.text)),
    hasColon: source[piece.end] === ":",
  };
}

function readQuote(text: string, at: number, isApart: boolean): Token | undefined {
  const fence = text.startsWith("```", at) ? "```" : undefined;
  const open = fence ?? (text[at] as string);
  const close = fence ?? quotes[open];
  if (close === undefined) return undefined;
  // In 'it's here' the second mark is part of a word.
  const isInWord = (place: number): boolean => close === "'" && /\p{L}/u.test(text[place + 1] ?? "");
  let end = text.indexOf(close, at + open.length);
  while (end !== -1 && isInWord(end)) end = text.indexOf(close, end + 1);
  if (end === -1 || end === at + open.length) return undefined;
  const inside = text.slice(at + open.length, end);
  const value = fence === undefined ? inside : inside.replace(/^\w*\n/u, "").replace(/\n$/u, "");
  return toToken(text, { kind: "quote", text: value, start: at, end: end + close.length, isApart });
}

function readJson(text: string, at: number, isApart: boolean): Token | undefined {
  const close = text[at] === "{" ? "}" : text[at] === "[" ? "]" : undefined;
  const end = close === undefined ? -1 : text.lastIndexOf(close) + 1;
  if (end <= at || parseJson(text.slice(at, end)) === undefined) return undefined;
  return toToken(text, { kind: "json", text: text.slice(at, end), start: at, end, isApart });
}

/** `--limit`, `--limit=5`, `limit=5`, `limit="a b"`, or one piece without spaces. */
function readPlain(text: string, at: number, isApart: boolean): Token {
  const rest = text.slice(at, at + longest);
  const option = /^(?:--([\p{L}_][\p{L}\p{N}_-]{0,63})(=?)|([\p{L}_][\p{L}\p{N}_-]{0,63})(=)(?!=))/u.exec(rest);
  if (option !== null) {
    const [said, dashed, sign, plain = dashed, equals = sign] = option;
    const value = equals === "=" ? readValue(text, at + said.length) : { text: "", end: at + said.length };
    return toToken(text, { kind: "pair", key: plain ?? "", text: value.text, start: at, end: value.end, isApart });
  }
  const [run] = /^\S+/u.exec(rest) as RegExpExecArray;
  // "a.txt," and "(a.txt)" end before the mark.
  const piece = run.replace(/(?:[,;:!?)]|\.(?=[,;:!?).]*$))+$/u, "").replace(/['’]s$/u, "") || run;
  const end = at + piece.length + (/^['’]s/u.test(run.slice(piece.length)) ? 2 : 0);
  return toToken(text, { kind: kindOf(piece), text: piece, start: at, end, isApart });
}

function readValue(text: string, at: number): { readonly text: string; readonly end: number } {
  const quote = readQuote(text, at, false) ?? readJson(text, at, false);
  if (quote !== undefined) return quote;
  const [run = ""] = /^[^\s,;]+/u.exec(text.slice(at, at + longest)) ?? [];
  const value = run.replace(/[?!)]+$/u, "");
  return { text: value, end: at + value.length };
}

const endings =
  "7z|bmp|bz2|c|cfg|conf|cpp|cs|css|csv|db|docx?|env|epub|flac|gif|go|gz|h|html?|ini|jar|java|jpe?g|jsx?|json|jsonl|lock|log|lua|md|mjs|mp[34]|ogg|" +
  "pdf|php|pl|png|pptx?|py|r|rb|rs|rtf|sh|sql|sqlite|svg|tar|tex|tgz|toml|tsv|tsx?|txt|wasm|wav|webp|whl|xlsx?|xml|xz|ya?ml|zip";

const forms: readonly (readonly [kind: TokenKind, form: RegExp])[] = [
  ["url", /^https?:\/\/\S+$/iu],
  ["email", /^[\w.+-]{1,64}@[\w-]{1,64}(?:\.[\w-]{1,64})+$/u],
  ["date", /^\d{4}-\d{2}-\d{2}(?:T[\d:.]{1,16}(?:Z|[+-]\d{2}:?\d{2})?)?$/u],
  ["number", /^[-+]?(?:\d+|\d{1,3}(?:,\d{3})+)(?:\.\d+)?%?$/u],
  ["file", /^(?:\.{0,2}|~)\/|[\p{L}\p{N}_]\/(?:[\p{L}\p{N}_.*]|$)|^\*\.\w+$|^README$/u],
  ["file", new RegExp(`\\.(?:${endings})$`, "iu")],
  ["word", /^\d+(?:st|nd|rd|th)$/u],
  ["id", /\d|[\p{L}\p{N}\]][._*[\\]+[\p{L}\p{N}*]|^[A-Z][A-Z_]+$/u],
];

function kindOf(piece: string): TokenKind {
  return forms.find(([, form]) => form.test(piece))?.[0] ?? "word";
}
