import { quote } from "../../core/errors.ts";
import type { Substitution } from "./substitution.ts";

/** A command in words, or why it is not a command. */
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
  const endWord = (): void => {
    // A placeholder without quotes that stands for nothing is no word, as in a shell.
    if (word !== undefined && (word.text !== "" || word.isQuoted)) words.push(word.text);
    word = undefined;
  };

  for (let at = 0; at < text.length;) {
    if (!inQuotes && /[ \t]/u.test(text[at] ?? "")) {
      endWord();
      at++;
      continue;
    }
    word ??= { text: "", isQuoted: false };
    const piece = readPiece({ text, at, inQuotes, word, words }, placeholders);
    if (typeof piece === "string") return { ok: false, reason: piece };
    length += piece.text.length;
    if (length > maxLength) return { ok: false, reason: `it is longer than ${maxLength} characters` };
    word = { text: word.text + piece.text, isQuoted: word.isQuoted || piece.isQuoted === true };
    if (piece.isQuote === true) inQuotes = !inQuotes;
    at = piece.end;
  }
  if (inQuotes) return { ok: false, reason: unclosed };
  endWord();
  return checkWords(words);
}

const unclosed = "a quote in it never closes";

/** A word as far as it was read. */
interface Word {
  readonly text: string;
  readonly isQuoted: boolean;
}

function checkWords(words: readonly string[]): ParsedCommand {
  const [program, ...rest] = words;
  if (program === undefined || program === "") return { ok: false, reason: "it names no program" };
  if (/^[A-Za-z_]\w*\+?=/u.test(program)) return { ok: false, reason: `${quote(program)} sets a variable for a shell` };
  if (words.some((word) => word.includes("\0"))) return { ok: false, reason: "it has a NUL character in it" };
  return { ok: true, words: [program, ...rest] };
}

interface Piece {
  readonly text: string;
  readonly end: number;
  readonly isQuoted?: boolean;
  /** It is a double quote, which opens or closes. */
  readonly isQuote?: boolean;
}

interface Place {
  readonly text: string;
  readonly at: number;
  /** In double quotes. */
  readonly inQuotes: boolean;
  /** What stands before it, of its own word and of others. */
  readonly word: Word;
  readonly words: readonly string[];
}

/** Reads the next piece of a word; a string is the reason why it cannot be read. */
function readPiece(place: Place, { find }: Placeholders): Piece | string {
  const { text, at, inQuotes } = place;
  switch (text.charAt(at)) {
    case "\\":
      return readEscape(place);
    case '"':
      return { text: "", end: at + 1, isQuoted: true, isQuote: true };
    case "'":
      return inQuotes ? { text: "'", end: at + 1 } : readSingleQuotes(place);
    case "$":
    case "{":
      return readPlaceholder(place, find) ?? readCharacter(place);
    default:
      return readCharacter(place);
  }
}

function readSingleQuotes({ text, at }: Place): Piece | string {
  const close = text.indexOf("'", at + 1);
  if (close === -1) return unclosed;
  const inner = text.slice(at + 1, close);
  return /[\n\r]/u.test(inner) ? severalLines : { text: inner, end: close + 1, isQuoted: true };
}

function readEscape({ text, at, inQuotes }: Place): Piece | string {
  const next = text[at + 1];
  if (next === undefined) return "a backslash ends it";
  if (next === "\n" || next === "\r") return severalLines;
  // In double quotes a backslash is a backslash before everything else.
  const isKept = inQuotes && !'"\\$`'.includes(next);
  return { text: isKept ? `\\${next}` : next, end: at + 2, isQuoted: true };
}

function readPlaceholder(place: Place, find: Placeholders["find"]): Piece | string | undefined {
  const { text, at, word, words } = place;
  const placeholder = find(text, at);
  if (placeholder === undefined) return undefined;
  const { token, value, isArgument } = placeholder;
  if (value === undefined) return isArgument ? `${token} was not given` : undefined;
  if (isArgument && words.length === 0) return "its program must be written out, not given as an argument";
  // Behind the beginning of a word, as in --title=$0, it can only be a part of that option.
  if (isArgument && word.text === "" && value.startsWith("-") && !words.includes("--")) {
    return `the argument ${quote(value)} would be an option of the program; write -- before the place of the argument`;
  }
  return { text: value, end: at + token.length };
}

/** What a shell does something with, wherever it stands. */
const special = /[|&;<>()*?[\]{}`\0]/u;
const specialInQuotes = /[`\0]/u;
const severalLines = "it has more than one line, which needs a shell";

function readCharacter({ text, at, inQuotes, word }: Place): Piece | string {
  const character = text[at] ?? "";
  if (character === "$") {
    const [variable = "$"] = /^\$[^\s"'$;|&<>/]{0,30}/u.exec(text.slice(at, at + 40)) ?? [];
    return `${quote(variable)} is for a shell to fill in, and commands run without a shell`;
  }
  if (character === "\n" || character === "\r") return severalLines;
  const isFirst = word.text === "" && !word.isQuoted;
  const isSpecial = (inQuotes ? specialInQuotes : special).test(character);
  const isHomeOrComment = isFirst && !inQuotes && (character === "~" || character === "#");
  if (isSpecial || isHomeOrComment) return `${quote(character)} is for a shell, and commands run without a shell`;
  return { text: character, end: at + 1 };
}
