import { maxJsonDepth } from "../../core/json.ts";
import { setOwn } from "./call-draft.ts";
import { isQuote, readString, type StringPlace } from "./read-string.ts";
import { isOver, isSpace, unreadable, type Source } from "./source.ts";

/** A value that was read leniently. */
export interface Reading {
  readonly value: unknown;
  readonly end: number;
  readonly repairs: readonly string[];
  /** The lists and objects that the answer ended in, each with the key whose value was cut off, if one was. */
  readonly incomplete: ReadonlyMap<object, string | undefined>;
}

/** The state of one reading. `at` is where it is. */
export interface Reader {
  readonly source: Source;
  readonly repairs: Set<string>;
  readonly incomplete: Map<object, string | undefined>;
  /** Literals as Python writes them, and no others. */
  readonly isPython: boolean;
  at: number;
  depth: number;
  lists: number;
  objects: number;
  /** The answer ended inside the last text, number or word. */
  isBroken: boolean;
}

/** Makes a reader that begins at `at`. */
export function createReader(source: Source, at: number, isPython = false): Reader {
  return {
    source,
    at,
    isPython,
    repairs: new Set(),
    incomplete: new Map(),
    depth: 0,
    lists: 0,
    objects: 0,
    isBroken: false,
  };
}

/**
 * Reads one value as a model may write it: single and typographic quotes, comments, trailing and missing commas, keys without
 * quotes, Python's `True` and `None`, brackets that are missing at the end. Reads as far as the value goes.
 *
 * Contract: throws `unreadable` if there is no value at `at`, `needMore` if more text must come. Reads each character once, except
 * the few after a quote.
 */
export function readValueLeniently(source: Source, at: number): Reading {
  const reader = createReader(source, at);
  const value = readAny(reader, "top");
  return { value, end: reader.at, repairs: [...reader.repairs], incomplete: reader.incomplete };
}

/** Reads the value at the reader's place. At the end of the text it is `undefined`. */
export function readAny(reader: Reader, place: StringPlace): unknown {
  skipFiller(reader);
  if (isOver(reader.source, reader.at)) return undefined;
  const character = reader.source.text.charAt(reader.at);
  if (character === "{" || character === "[" || (character === "(" && reader.isPython))
    return readContainer(reader, character);
  if (isQuote(character)) return readText(reader, place);
  return readWord(reader, place);
}

function readText(reader: Reader, place: StringPlace, isRaw = false): string {
  const { value, end, isCut, repairs } = readString(reader.source, reader.at, place, isRaw);
  reader.at = end;
  reader.isBroken = isCut;
  for (const repair of repairs) if (!reader.isPython || !repair.startsWith("other quotes")) reader.repairs.add(repair);
  return value;
}

function readContainer(reader: Reader, opening: string): unknown {
  reader.at += 1;
  reader.depth += 1;
  if (reader.depth > maxJsonDepth) throw unreadable;
  const isObject = opening === "{";
  if (isObject) reader.objects += 1;
  else reader.lists += 1;
  const value = isObject ? readObject(reader) : readList(reader);
  if (isObject) reader.objects -= 1;
  else reader.lists -= 1;
  reader.depth -= 1;
  return value;
}

function readObject(reader: Reader): Record<string, unknown> {
  const { source } = reader;
  const object: Record<string, unknown> = {};
  let key: string | undefined;
  for (;;) {
    if (isClosed(reader, object, key, "}")) return object;
    key = readKey(reader);
    skipFiller(reader);
    if (isOver(source, reader.at)) {
      reader.incomplete.set(object, key);
      return object;
    }
    if (!":=".includes(source.text.charAt(reader.at))) throw unreadable;
    reader.at += source.text.startsWith("=>", reader.at) ? 2 : 1;
    const value = readAny(reader, "property");
    if (value === undefined) reader.isBroken = true;
    else setOwn(object, key, value);
    skipComma(reader);
  }
}

function readList(reader: Reader): unknown[] {
  const list: unknown[] = [];
  for (;;) {
    if (isClosed(reader, list, undefined, "]")) return list;
    const value = readAny(reader, "item");
    if (value !== undefined) list.push(value);
    skipComma(reader);
  }
}

/** Tells whether the list or object ends here, by its bracket, by one of something around it, or by what follows the value. */
function isClosed(reader: Reader, container: object, key: string | undefined, closing: string): boolean {
  const { source } = reader;
  skipFiller(reader);
  if (isOver(source, reader.at)) {
    reader.incomplete.set(container, reader.isBroken ? (key ?? "") : undefined);
    reader.isBroken = false;
    return true;
  }
  const character = source.text.charAt(reader.at);
  if (character === closing || (character === ")" && reader.isPython)) {
    reader.at += 1;
    return true;
  }
  if (character === "}" || character === "]") {
    reader.repairs.add("a bracket was replaced by the right one");
    const isOfOuter = character === "}" ? reader.objects > 0 : reader.lists > 0;
    if (!isOfOuter) reader.at += 1;
    return true;
  }
  if (isMark(reader)) {
    reader.repairs.add("missing brackets were added");
    return true;
  }
  return false;
}

/** A tag or a fence where a comma or a bracket would have to be: the model has ended the value. */
function isMark({ source, at }: Reader): boolean {
  const character = source.text.charAt(at);
  if (character !== "<" && character !== "`" && character !== "~") return false;
  if (!source.ended && at + 3 > source.text.length) isOver(source, source.text.length);
  return /^(?:<[/|｜A-Za-z]|```|~~~)/u.test(source.text.slice(at, at + 3));
}

function readKey(reader: Reader): string {
  const { source } = reader;
  if (isQuote(source.text.charAt(reader.at))) return readText(reader, "key");
  const word = readLetters(reader, /[\p{L}\p{N}_$.-]/u);
  if (word === "") throw unreadable;
  reader.repairs.add("quotes were put around keys");
  return word;
}

function readLetters(reader: Reader, pattern: RegExp): string {
  const { source } = reader;
  const start = reader.at;
  while (!isOver(source, reader.at) && pattern.test(source.text.charAt(reader.at))) {
    reader.at += 1;
    if (reader.at - start > 256) throw unreadable;
  }
  source.steps += reader.at - start;
  return source.text.slice(start, reader.at);
}

const words: Readonly<Record<string, unknown>> = { true: true, false: false, null: null };
const pythonWords: Readonly<Record<string, unknown>> = {
  True: true,
  False: false,
  None: null,
  TRUE: true,
  FALSE: false,
  NULL: null,
};

function readWord(reader: Reader, place: StringPlace): unknown {
  const { source } = reader;
  const word = readLetters(reader, /[\p{L}\p{N}_+.-]/u);
  if (/^[rRbBuU]$/u.test(word) && reader.isPython && isQuote(source.text.charAt(reader.at))) {
    return readText(reader, place, word.toLowerCase() === "r");
  }
  reader.isBroken = isOver(source, reader.at);
  if (Object.hasOwn(words, word)) return words[word];
  if (Object.hasOwn(pythonWords, word)) {
    if (!reader.isPython) reader.repairs.add("True, False or None of Python were read");
    return pythonWords[word];
  }
  if (/^[+-]?(?:\d[\d_]*(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/u.test(word)) return toNumber(reader, word);
  if (reader.isBroken && word !== "") return null;
  throw unreadable;
}

function toNumber(reader: Reader, word: string): number {
  const number = Number(word.replaceAll("_", ""));
  if (!Number.isFinite(number)) throw unreadable;
  if (!/^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/u.test(word)) reader.repairs.add("a number was written as JSON");
  return number;
}

function skipComma(reader: Reader): void {
  const { source } = reader;
  skipFiller(reader);
  if (isOver(source, reader.at)) return;
  let commas = 0;
  while (",，".includes(source.text.charAt(reader.at))) {
    commas += 1;
    reader.at += 1;
    reader.isBroken = false;
    skipFiller(reader);
    if (isOver(source, reader.at)) return;
  }
  const isClosing = "}])".includes(source.text.charAt(reader.at));
  if (commas > 1 || (commas > 0 && isClosing && !reader.isPython)) reader.repairs.add("a comma too many was dropped");
  if (commas > 0 || isClosing || isMark(reader)) return;
  if (reader.isPython || source.text.charAt(reader.at) === ";") throw unreadable;
  reader.repairs.add("a missing comma was added");
}

/** Skips white space and comments. */
export function skipFiller(reader: Reader): void {
  const { source } = reader;
  const start = reader.at;
  while (!isOver(source, reader.at)) {
    const character = source.text.charAt(reader.at);
    if (isSpace(character)) reader.at += 1;
    else if (character === "#") skipComment(reader, "\n");
    else if (character === "/") {
      isOver(source, reader.at + 1);
      const next = source.text.charAt(reader.at + 1);
      if (next === "/") skipComment(reader, "\n");
      else if (next === "*") skipComment(reader, "*/");
      else break;
    } else break;
  }
  source.steps += reader.at - start + 1;
}

function skipComment(reader: Reader, ending: string): void {
  const { source } = reader;
  const end = source.text.indexOf(ending, reader.at);
  if (end === -1) isOver(source, source.text.length);
  reader.at = end === -1 ? source.text.length : end + ending.length;
  reader.repairs.add("comments were dropped");
}
