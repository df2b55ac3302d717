import { createSource, isOver, isSpace, type Source } from "./source.ts";

/** Where a text stands, which says what may come behind its closing quote. */
export type StringPlace = "key" | "property" | "item" | "argument" | "top";

/** A text that was read. */
export interface ReadString {
  readonly value: string;
  readonly end: number;
  /** The answer ended inside it. */
  readonly isCut: boolean;
  readonly repairs: readonly string[];
}

const closers: Readonly<Record<string, string>> = {
  '"': '"',
  "'": "'",
  "`": "`",
  "“": '”“"',
  "”": '”“"',
  "„": '”“"',
  "‘": "’‘'",
  "’": "’‘'",
  "«": "»",
};

/** Tells whether a text may begin with this character. */
export function isQuote(character: string): boolean {
  return Object.hasOwn(closers, character);
}

/**
 * Reads a text in any quotes, with whatever is inside: line breaks, quotes that were not escaped (told by what follows them),
 * paths of Windows. `isRaw` is for Python's `r"…"`.
 */
export function readString(source: Source, start: number, place: StringPlace, isRaw = false): ReadString {
  const opening = source.text.charAt(start);
  const triple = opening.repeat(3);
  if ((opening === '"' || opening === "'") && source.text.startsWith(triple, start)) {
    const end = source.text.indexOf(triple, start + 3);
    if (end !== -1) return readTriple(source, start, end, isRaw);
  }
  const state: StringState = {
    source,
    place,
    isRaw,
    at: start + 1,
    pieces: [],
    repairs: new Set(),
    hasBadEscape: false,
  };
  if (opening !== '"') state.repairs.add('other quotes than " were read as quotes');
  const ending = closers[opening] ?? opening;
  const isCut = readUntilClosed(state, ending);
  const raw = source.text.slice(start + 1, state.at);
  source.steps += raw.length;
  return {
    value: isPath(raw, state) ? toPath(raw, state) : state.pieces.join(""),
    end: isCut ? state.at : state.at + 1,
    isCut,
    repairs: [...state.repairs],
  };
}

interface StringState {
  readonly source: Source;
  readonly place: StringPlace;
  readonly isRaw: boolean;
  readonly pieces: string[];
  readonly repairs: Set<string>;
  at: number;
  hasBadEscape: boolean;
}

/** Puts the decoded pieces into `state`, whose `at` is then at the closing quote. Tells whether the answer ended before. */
function readUntilClosed(state: StringState, ending: string): boolean {
  const { source, pieces } = state;
  let from = state.at;
  while (!isOver(source, state.at)) {
    const character = source.text.charAt(state.at);
    if (character === "\\") {
      pieces.push(source.text.slice(from, state.at), readEscape(state));
      from = state.at;
    } else if (ending.includes(character)) {
      if (isClosing(state, state.at)) {
        pieces.push(source.text.slice(from, state.at));
        return false;
      }
      state.repairs.add("quotes inside a text were escaped");
      state.at += 1;
    } else {
      if (character === "\n") state.repairs.add("line breaks inside a text were escaped");
      state.at += 1;
    }
  }
  pieces.push(source.text.slice(from));
  return true;
}

const escapes: Readonly<Record<string, string>> = {
  n: "\n",
  t: "\t",
  r: "\r",
  b: "\b",
  f: "\f",
  "/": "/",
  "\\": "\\",
  '"': '"',
  "'": "'",
};

/** Reads what begins with the backslash at `state.at`. One that means nothing is a backslash. */
function readEscape(state: StringState): string {
  const { source } = state;
  const start = state.at;
  if (isOver(source, start + 1)) {
    state.at = source.text.length;
    return "";
  }
  const character = source.text.charAt(start + 1);
  state.at = start + 2;
  if (state.isRaw) return `\\${character}`;
  if (character === "u" || character === "x") {
    const length = character === "u" ? 4 : 2;
    const digits = source.text.slice(start + 2, start + 2 + length);
    if (!source.ended && digits.length < length) isOver(source, source.text.length);
    if (digits.length === length && /^[0-9a-fA-F]+$/u.test(digits)) {
      state.at += length;
      return String.fromCharCode(Number.parseInt(digits, 16));
    }
  }
  const known = Object.hasOwn(escapes, character) ? escapes[character] : undefined;
  if (known !== undefined) return known;
  state.hasBadEscape = true;
  state.repairs.add("backslashes that escape nothing were kept");
  return `\\${character}`;
}

/** A path of Windows, whose backslashes a model did not double: `C:\Users\new`. */
function isPath(raw: string, { hasBadEscape, isRaw }: StringState): boolean {
  if (isRaw || !/^[A-Za-z]:\\[^\\]/u.test(raw)) return false;
  // What JSON could read is read as JSON, unless no text begins like it.
  return hasBadEscape || /^[A-Za-z]:\\[tbf]/u.test(raw);
}

function toPath(raw: string, state: StringState): string {
  state.repairs.delete("backslashes that escape nothing were kept");
  state.repairs.add("the backslashes of a path were doubled");
  return raw.replaceAll(/\\(["\\])/gu, "$1");
}

/** How far ahead is looked, to tell a closing quote from one inside the text. */
const farthest = 160;

/** Tells whether the quote at `at` ends its text, by what comes behind it. */
function isClosing({ source, place }: StringState, at: number): boolean {
  if (place === "top" || place === "key") return true;
  const next = skipAhead(source, at + 1);
  if (next === undefined || isOver(source, next)) return true;
  const character = source.text.charAt(next);
  if ("}]);".includes(character)) return true;
  if (character === "," || character === "，") return isNextBehindComma(source, next + 1, place);
  if (isQuote(character)) return place === "property" ? isKey(source, next) : place === "item" && next > at + 1;
  if (character === "/" || character === "#") return next > at + 1;
  return character === "<" || character === "`";
}

/** The next place that is no white space; nothing if that is far away. */
function skipAhead(source: Source, at: number): number | undefined {
  let next = at;
  while (next < source.text.length && isSpace(source.text.charAt(next))) {
    next += 1;
    if (next - at > farthest) return undefined;
  }
  source.steps += next - at;
  return next;
}

function isNextBehindComma(source: Source, at: number, place: StringPlace): boolean {
  const next = skipAhead(source, at);
  if (next === undefined || isOver(source, next)) return true;
  const character = source.text.charAt(next);
  if ("}])/#<,".includes(character)) return true;
  if (place === "property") return isKey(source, next);
  const rest = ahead(source, next);
  if (place === "argument" && /^[A-Za-z_]\w*\s*[=:]/u.test(rest)) return true;
  return isQuote(character) || /^(?:[-+.\d{[(]|(?:true|false|null|none)\b)/iu.test(rest);
}

/** Tells whether a key and its colon stand at `at`. */
function isKey(source: Source, at: number): boolean {
  const rest = ahead(source, at);
  if (/^(?:["'“”‘’`][^"“”`\n]{0,96}?["'“”‘’`]|[\w$-]{1,96})\s{0,16}[:=]/u.test(rest)) return true;
  // The answer ends in the key.
  return at + rest.length === source.text.length && /^["'“”‘’`]?[\w$ .-]*["'“”‘’`]?\s*$/u.test(rest);
}

function ahead(source: Source, at: number): string {
  source.steps += farthest;
  if (!source.ended) isOver(source, at + farthest);
  return source.text.slice(at, at + farthest);
}

/** Python's `"""…"""`. */
function readTriple(source: Source, start: number, end: number, isRaw: boolean): ReadString {
  const raw = source.text.slice(start + 3, end);
  source.steps += raw.length;
  const state: StringState = {
    source: createSource(raw),
    place: "top",
    isRaw,
    at: 0,
    pieces: [],
    repairs: new Set(),
    hasBadEscape: false,
  };
  readUntilClosed(state, "");
  return { value: state.pieces.join(""), end: end + 3, isCut: false, repairs: [] };
}
