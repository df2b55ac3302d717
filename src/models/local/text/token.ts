import type { JsonValue } from "../../../core/json.ts";

/** What a piece of a request looks like. `mark` is a character that is nothing else. */
export type TokenKind =
  | "code"
  | "command"
  | "date"
  | "email"
  | "expression"
  | "flag"
  | "json"
  | "mark"
  | "number"
  | "pair"
  | "path"
  | "quoted"
  | "range"
  | "reference"
  | "regex"
  | "selector"
  | "sql"
  | "time"
  | "url"
  | "word";

/** A piece of a request: a word, or several characters that are one value. */
export interface Token {
  readonly kind: TokenKind;
  /** As it is written. */
  readonly text: string;
  /** In lower case; empty for what is no word. */
  readonly word: string;
  /** Empty for words that say nothing, and for what is no word. */
  readonly stem: string;
  /** What it means, if that is not its text. */
  readonly value?: JsonValue;
  /** Of a day: whether nobody said in which year. */
  readonly isYearOpen?: boolean;
  readonly start: number;
  readonly end: number;
}

/** A kind that is a value by its form and not a word of the language. */
export function isValueToken({ kind }: Token): boolean {
  return kind !== "word" && kind !== "mark";
}

/** A word that is the name of one thing by its form: `ORD-2207`, `web-01`, `#general`, `A1:C10`. */
export function isCode({ kind, text }: Token): boolean {
  return kind === "word" && /^\p{L}[\p{L}\p{N}]*[_-]\p{N}+$|^[#@]\p{L}[\p{L}\p{N}_-]*$|^[A-Z]+\d+:/u.test(text);
}

/** A name with a slash in it, such as `fix/login`, that need not be a file. */
export function isSlashName({ kind, text }: Token): boolean {
  return kind === "path" && /^[\p{L}\p{N}_-]+(?:\/[\p{L}\p{N}_-]+)+$/u.test(text);
}

/** The word at a place, in lower case; empty if there is none. */
export function wordAt(tokens: readonly Token[], at: number): string {
  return tokens[at]?.word ?? "";
}

/** The text at a place as it is written; empty if there is none. */
export function textAt(tokens: readonly Token[], at: number): string {
  return tokens[at]?.text ?? "";
}
