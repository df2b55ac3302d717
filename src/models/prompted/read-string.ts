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

const badEscape = "backslashes that escape nothing were kept";

/**
 * Reads a text in any quotes, with whatever is inside: line breaks, quotes that were not escaped (told by what follows them),
 * paths of Windows. `isRaw` is for Python's `r"…"`.
 */
export function readString(source: Source, start: number, place: StringPlace, isRaw = false): ReadString {
  const opening = source.text.charAt(start);
  const triple = opening.repeat(3);
  const tripleEnd =
    /["']/u.test(opening) && source.text.startsWith(triple, start) ? source.text.indexOf(triple, start + 3) : -1;
  if (tripleEnd !== -1) {
    const inside = createSource(source.text.slice(start + 3, tripleEnd));
    source.steps += inside.text.length;
    return { ...readUntil(inside, 0, "", { place, isRaw }), end: tripleEnd + 3, isCut: false, repairs: [] };
  }
  const read = readUntil(source, start + 1, closers[opening] ?? opening, { place, isRaw });
  const { end, isCut } = read;
  const raw = source.text.slice(start + 1, end);
  source.steps += raw.length;
  const repairs = new Set([...(opening === '"' ? [] : ['other quotes than " were read as quotes']), ...read.repairs]);
  // A path of Windows, whose backslashes a model did not double. What JSON could read is read as JSON, unless no text begins like it.
  const isPath = !isRaw && /^[A-Za-z]:\\[^\\]/u.test(raw) && (repairs.has(badEscape) || /^[A-Za-z]:\\[tbf]/u.test(raw));
  if (isPath) {
    repairs.delete(badEscape);
    repairs.add("the backslashes of a path were doubled");
  }
  const value = isPath ? raw.replaceAll(/\\(["\\])/gu, "$1") : read.value;
  return { value, end: isCut ? end : end + 1, isCut, repairs: [...repairs] };
}

interface StringKind {
  readonly place: StringPlace;
  readonly isRaw: boolean;
}

/** Decodes a text up to its closing quote, or to where the answer ends. */
function readUntil(source: Source, start: number, closing: string, { place, isRaw }: StringKind): ReadString {
  const repairs = new Set<string>();
  let value = "";
  let from = start;
  let at = start;
  while (!isOver(source, at)) {
    const character = source.text.charAt(at);
    if (character === "\\") {
      const escaped = readEscape(source, at, isRaw);
      if (escaped.isBad) repairs.add(badEscape);
      value += source.text.slice(from, at) + escaped.value;
      from = at = escaped.end;
      continue;
    }
    if (closing.includes(character)) {
      if (isClosing(source, at, place))
        return { value: value + source.text.slice(from, at), end: at, isCut: false, repairs: [...repairs] };
      repairs.add("quotes inside a text were escaped");
    } else if (character === "\n") repairs.add("line breaks inside a text were escaped");
    at += 1;
  }
  return { value: value + source.text.slice(from), end: at, isCut: true, repairs: [...repairs] };
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

/** Reads what begins with a backslash. One that escapes nothing is a backslash. */
function readEscape(source: Source, start: number, isRaw: boolean): { value: string; end: number; isBad?: boolean } {
  if (isOver(source, start + 1)) return { value: "", end: source.text.length };
  const character = source.text.charAt(start + 1);
  const end = start + 2;
  if (isRaw) return { value: `\\${character}`, end };
  const length = character === "u" ? 4 : character === "x" ? 2 : 0;
  const digits = source.text.slice(end, end + length);
  if (!source.ended && digits.length < length) isOver(source, source.text.length);
  if (length > 0 && digits.length === length && /^[0-9a-fA-F]+$/u.test(digits))
    return { value: String.fromCharCode(Number.parseInt(digits, 16)), end: end + length };
  const known = Object.hasOwn(escapes, character) ? escapes[character] : undefined;
  return known === undefined ? { value: `\\${character}`, end, isBad: true } : { value: known, end };
}

/** How far ahead is looked, to tell a closing quote from one inside the text. */
const farthest = 160;

const added = /^\+\s*(?:["'“`]|[A-Za-z_$][\w$.()]*\s*[,}\]])/u;

/** Tells whether the quote at `at` ends its text, by what comes behind it. */
function isClosing(source: Source, at: number, place: StringPlace): boolean {
  if (place === "top" || place === "key") return true;
  const next = skipAhead(source, at + 1);
  if (next === undefined) return true;
  const character = source.text.charAt(next);
  if ("}]);".includes(character)) return true;
  if (character === "," || character === "，") return isNextBehindComma(source, next + 1, place);
  if (isQuote(character)) return place === "property" ? isKey(source, next) : place === "item" && next > at + 1;
  if (character === "/" || character === "#") return next > at + 1;
  // Texts that are added: the text ends here, and what follows is no JSON.
  if (character === "+") return added.test(ahead(source, next));
  return character === "<" || character === "`";
}

/** The next place that is no white space; `undefined` if that is far away, or the answer ends before. */
function skipAhead(source: Source, at: number): number | undefined {
  let next = at;
  while (next < source.text.length && isSpace(source.text.charAt(next))) {
    next += 1;
    if (next - at > farthest) return undefined;
  }
  source.steps += next - at;
  return isOver(source, next) ? undefined : next;
}

function isNextBehindComma(source: Source, at: number, place: StringPlace): boolean {
  const next = skipAhead(source, at);
  if (next === undefined) return true;
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
