import { quote } from "../../core/errors.ts";
import type { Substitution } from "./substitution.ts";

/** A command in words, or why it is none. */
export type ParsedCommand =
  | { readonly ok: true; readonly words: readonly [program: string, ...rest: string[]] }
  | { readonly ok: false; readonly reason: string };

/** What fills in placeholders. */
export type Placeholders = Pick<Substitution, "find">;

/** The longest command, in characters, with its arguments filled in. */
const maxLength = 131_072;

/**
 * Takes a command apart into words: spaces separate, quotes and backslashes keep together. There is no shell, so whatever would
 * need one is refused. Placeholders are filled in outside of single quotes; a value becomes a part of one word and is not read
 * again, whatever is in it. The first word has no arguments in it, and a value never becomes an option.
 *
 * Contract: runs nothing, never throws, and takes time in proportion to the text and the values.
 */
export function parseCommand(text: string, placeholders: Placeholders): ParsedCommand {
  const words: string[] = [];
  let word: Word | undefined;
  let length = 0;
  let inQuotes = false;
  for (let at = 0; at < text.length;) {
    const character = text[at] ?? "";
    if (!inQuotes && (character === " " || character === "\t")) {
      if (word !== undefined && !isNothing(word)) words.push(word.text);
      word = undefined;
      at++;
      continue;
    }
    word ??= { text: "", isQuoted: false };
    const isQuote = character === '"';
    const piece: Piece | string = isQuote
      ? { text: "", end: at + 1, isQuoted: true }
      : readPiece({ text, at, inQuotes, isFirst: word.text === "" && !word.isQuoted }, placeholders);
    if (typeof piece === "string") return { ok: false, reason: piece };
    const refused = piece.isArgument === true ? refuseArgument(piece.text, word, words) : undefined;
    if (refused !== undefined) return { ok: false, reason: refused };
    length += piece.text.length;
    if (length > maxLength) return { ok: false, reason: `it is longer than ${maxLength} characters` };
    word = { text: word.text + piece.text, isQuoted: word.isQuoted || piece.isQuoted === true };
    if (isQuote) inQuotes = !inQuotes;
    at = piece.end;
  }
  if (inQuotes) return { ok: false, reason: "a quote in it never closes" };
  if (word !== undefined && !isNothing(word)) words.push(word.text);
  return checkWords(words);
}

/** A word as far as it was read. */
interface Word {
  readonly text: string;
  readonly isQuoted: boolean;
}

/** A placeholder without quotes that stands for nothing is no word, as in a shell. */
function isNothing({ text, isQuoted }: Word): boolean {
  return text === "" && !isQuoted;
}

function checkWords(words: readonly string[]): ParsedCommand {
  const [program, ...rest] = words;
  if (program === undefined || program === "") return { ok: false, reason: "it names no program" };
  if (/^[A-Za-z_]\w*\+?=/u.test(program)) return { ok: false, reason: `${quote(program)} sets a variable for a shell` };
  if (words.some((word) => word.includes("\0"))) return { ok: false, reason: "it has a NUL character in it" };
  return { ok: true, words: [program, ...rest] };
}

function refuseArgument(value: string, word: Word, words: readonly string[]): string | undefined {
  if (words.length === 0) return "its program must be written out, not given as an argument";
  // Behind the beginning of a word, as in --title=$0, it can only be a part of that option.
  if (word.text !== "" || !value.startsWith("-") || words.includes("--")) return undefined;
  return `the argument ${quote(value)} would be an option of the program; write -- before the place of the argument`;
}

interface Piece {
  readonly text: string;
  readonly end: number;
  readonly isQuoted?: boolean;
  readonly isArgument?: boolean;
}

interface Place {
  readonly text: string;
  readonly at: number;
  readonly inQuotes: boolean;
  /** Nothing of the word stands before it. */
  readonly isFirst: boolean;
}

/** What a shell does something with, wherever it stands. */
const special = /[|&;<>()*?[\]{}`\n\r\0]/u;
const specialInQuotes = /[`\n\r\0]/u;

/** Reads the next piece of a word; a text is the reason why there is none. */
function readPiece(place: Place, { find }: Placeholders): Piece | string {
  const { text, at, inQuotes, isFirst } = place;
  const character = text[at] ?? "";
  if (character === "\\") return readEscape(place);
  if (character === "'" && !inQuotes) {
    const end = text.indexOf("'", at + 1);
    const inner = text.slice(at + 1, end);
    if (end === -1) return "a quote in it never closes";
    return inner.includes("\n") ? describeSpecial("\n") : { text: inner, end: end + 1, isQuoted: true };
  }
  if (character === "$" || character === "{") {
    const placeholder = find(text, at);
    if (placeholder !== undefined) {
      const { token, value, isArgument } = placeholder;
      if (value === undefined) return `${token} was not given`;
      return { text: value, end: at + token.length, isArgument };
    }
  }
  if (character === "$") {
    return `${quote(/^\$[\w{(]?[^\s"']{0,30}/u.exec(text.slice(at, at + 40))?.[0] ?? "$")} is for a shell to fill in, and there is none`;
  }
  const isSpecial = (inQuotes ? specialInQuotes : special).test(character);
  const isSpecialFirst = !inQuotes && isFirst && (character === "~" || character === "#");
  return isSpecial || isSpecialFirst ? describeSpecial(character) : { text: character, end: at + 1 };
}

function describeSpecial(character: string): string {
  if (character === "\n" || character === "\r") return "it has more than one line, which needs a shell";
  return `${quote(character)} is for a shell, and there is none`;
}

function readEscape({ text, at, inQuotes }: Place): Piece | string {
  const next = text[at + 1];
  if (next === undefined) return "a backslash ends it";
  if (next === "\n" || next === "\r") return describeSpecial("\n");
  // In double quotes a backslash is a backslash before everything else.
  const isKept = inQuotes && !'"\\$`'.includes(next);
  return { text: isKept ? `\\${next}` : next, end: at + 2, isQuoted: true };
}
