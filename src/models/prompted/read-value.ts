import { maxJsonDepth } from "../../core/json.ts";
import { isQuote, readString, type StringPlace } from "./read-string.ts";
import { findToken, isOver, mostRunaways, skipSpace, startsWith, unreadable, type Source } from "./source.ts";

/** A value that was read leniently. */
export interface Reading {
  readonly value: unknown;
  readonly end: number;
  readonly repairs: readonly string[];
  /** The lists and objects that the answer ended in, each with the key whose value was cut off, if one was. */
  readonly incomplete: ReadonlyMap<object, string | undefined>;
}

/** What {@link readJson} found: a value, or, if none can be read there, where to continue. */
export type JsonRead = ({ readonly ok: true } & Reading) | { readonly ok: false; readonly next: number };

/**
 * Reads the list or object that begins at `at`: as JSON if it is JSON, leniently if it is not.
 *
 * Contract: throws `needMore` and nothing else. What is JSON is never changed.
 */
export function readJson(source: Source, at: number): JsonRead {
  if (source.runaways >= mostRunaways) return { ok: false, next: at + 1 };
  const end = matchBrackets(source, at);
  const value = end === undefined ? undefined : parseStrictly(source.text.slice(at, end));
  if (end !== undefined && value !== undefined) return { ok: true, value, end, repairs: [], incomplete: new Map() };
  const reading = readLeniently(source, at);
  if (end === undefined || reading === undefined || reading.incomplete.size > 0) source.runaways += 1;
  return reading === undefined ? { ok: false, next: end ?? at + 1 } : { ok: true, ...reading };
}

/** What stands on both sides of a text in calls of FunctionGemma and of Gemma 4, instead of quotes. */
const textTokens = ["<escape>", '<|"|>'];

const bracketOrText = /[{[]|([}\]])|<escape>[^]*?(<escape>)|<\|"\|>[^]*?(<\|"\|>)|"(?:[^"\\]|\\[^])*(")?/gu;

/** Where the bracket that is at `at` is closed, if what is between is JSON; `undefined` if it never is. */
function matchBrackets(source: Source, at: number): number | undefined {
  let depth = 0;
  bracketOrText.lastIndex = at;
  for (let match = bracketOrText.exec(source.text); match !== null; match = bracketOrText.exec(source.text)) {
    const [found, closing, ...quotes] = match;
    const isText = quotes.some((quote) => quote !== undefined);
    if (found.startsWith('"') && !isText) break;
    if (closing !== undefined) depth -= 1;
    else if (!isText) depth += 1;
    if (depth > 0) continue;
    source.steps += bracketOrText.lastIndex - at;
    return bracketOrText.lastIndex;
  }
  source.steps += source.text.length - at;
  isOver(source, source.text.length);
  return undefined;
}

/** The value of a JSON text; `undefined` if the text is not valid JSON. */
export function parseStrictly(text: string): unknown {
  // A drive and a single backslash, where JSON would read a tab: no text begins like that, but a path that was not escaped does.
  if (/"[A-Za-z]:\\[tbf]/u.test(text)) return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/**
 * Reads one value as a model may write it: single and typographic quotes, comments, trailing and missing commas, keys without
 * quotes, Python's `True` and `None`, brackets that are missing at the end. Reads as far as the value goes; `undefined` if there is
 * no value at `at`.
 *
 * Contract: throws `needMore` and nothing else. Reads each character once, except the few after a quote.
 */
export function readLeniently(source: Source, at: number): Reading | undefined {
  const reader = new LenientReader(source, at);
  try {
    const value = reader.read("top");
    return { value, end: reader.at, repairs: [...reader.repairs], incomplete: reader.incomplete };
  } catch (cause) {
    if (cause !== unreadable) throw cause;
    return undefined;
  }
}

const words = new Map<string, unknown>([
  ["true", true],
  ["false", false],
  ["null", null],
]);
const pythonWords = new Map<string, unknown>([
  ["True", true],
  ["False", false],
  ["None", null],
  ["TRUE", true],
  ["FALSE", false],
  ["NULL", null],
]);

/** One reading, which is at `at`. Its methods throw `unreadable` if there is no value, `needMore` if more text must come. */
export class LenientReader {
  readonly source: Source;
  readonly repairs = new Set<string>();
  readonly incomplete = new Map<object, string | undefined>();
  at: number;
  /** Literals as Python writes them, and no others. */
  readonly #isPython: boolean;
  #lists = 0;
  #objects = 0;
  /** The answer ended inside the last text, number or word. */
  #isBroken = false;

  constructor(source: Source, at: number, isPython = false) {
    this.source = source;
    this.at = at;
    this.#isPython = isPython;
  }

  /** Skips white space and comments; answers with what is there, "" at the end of the answer. */
  skip(): string {
    const { source } = this;
    for (;;) {
      this.at = skipSpace(source, this.at);
      const character = source.text.charAt(this.at);
      if (character === "/") isOver(source, this.at + 1);
      const two = source.text.slice(this.at, this.at + 2);
      const ending = character === "#" || two === "//" ? "\n" : two === "/*" ? "*/" : undefined;
      if (ending === undefined) return character;
      const end = source.text.indexOf(ending, this.at);
      if (end === -1) isOver(source, source.text.length);
      this.at = end === -1 ? source.text.length : end + ending.length;
      this.repairs.add("comments were dropped");
    }
  }

  /** Reads the value that comes next. At the end of the answer it is `undefined`. */
  read(place: StringPlace): unknown {
    const character = this.skip();
    if (character === "") return undefined;
    if (isQuote(character)) return this.#readText(place);
    const token = character === "<" ? this.#textToken() : undefined;
    if (token !== undefined) return this.#readBetween(token);
    const isList = character === "[" || (character === "(" && this.#isPython);
    if (!isList && character !== "{") return this.#readWord(place);
    if (this.#lists + this.#objects >= maxJsonDepth) throw unreadable;
    this.at += 1;
    if (isList) this.#lists += 1;
    else this.#objects += 1;
    const value = isList ? this.#readList() : this.#readObject();
    if (isList) this.#lists -= 1;
    else this.#objects -= 1;
    return value;
  }

  #readText(place: StringPlace, isRaw = false): string {
    const { value, end, isCut, repairs } = readString(this.source, this.at, place, isRaw);
    this.at = end;
    this.#isBroken = isCut;
    for (const repair of repairs) if (!this.#isPython || !repair.startsWith("other quotes")) this.repairs.add(repair);
    return value;
  }

  /** The token that begins a text here, if one does. */
  #textToken(): string | undefined {
    return textTokens.find((token) => startsWith(this.source, this.at, token));
  }

  /** A text between two tokens, as it is. */
  #readBetween(token: string): string {
    const start = this.at + token.length;
    const end = findToken(this.source, start, token);
    this.#isBroken = isOver(this.source, end);
    this.at = this.#isBroken ? end : end + token.length;
    return this.source.text.slice(start, end);
  }

  #readObject(): Record<string, unknown> {
    const object: Record<string, unknown> = {};
    let key: string | undefined;
    while (!this.#isClosed(object, key, "}")) {
      key = this.#readKey();
      const sign = this.skip();
      if (sign === "") {
        this.incomplete.set(object, key);
        break;
      }
      if (!":=".includes(sign)) throw unreadable;
      this.at += this.source.text.startsWith("=>", this.at) ? 2 : 1;
      const value = this.read("property");
      if (value === undefined) this.#isBroken = true;
      else setOwn(object, key, value);
      this.#skipComma();
    }
    return object;
  }

  #readList(): unknown[] {
    const list: unknown[] = [];
    while (!this.#isClosed(list, undefined, "]")) {
      const value = this.read("item");
      if (value !== undefined) list.push(value);
      this.#skipComma();
    }
    return list;
  }

  /** Tells whether the list or object ends here, by its bracket, by one of something around it, or by what follows the value. */
  #isClosed(container: object, key: string | undefined, closing: string): boolean {
    const character = this.skip();
    if (character === "") {
      this.incomplete.set(container, this.#isBroken ? (key ?? "") : undefined);
      this.#isBroken = false;
    } else if (character === closing || (character === ")" && this.#isPython)) this.at += 1;
    else if (character === "}" || character === "]") {
      this.repairs.add("a bracket was replaced by the right one");
      const isOfOuter = character === "}" ? this.#objects > 0 : this.#lists > 0;
      if (!isOfOuter) this.at += 1;
    } else if (this.#isMark(character)) this.repairs.add("missing brackets were added");
    else return false;
    return true;
  }

  /** A tag or a fence where a comma or a bracket would have to be: the model has ended the value. */
  #isMark(character: string): boolean {
    const { source, at } = this;
    if (!"<`~".includes(character) || this.#textToken() !== undefined) return false;
    if (at + 3 > source.text.length) isOver(source, source.text.length);
    return /^(?:<[/|｜A-Za-z]|```|~~~)/u.test(source.text.slice(at, at + 3));
  }

  #readKey(): string {
    if (isQuote(this.source.text.charAt(this.at))) return this.#readText("key");
    const word = this.#readLetters(/[\p{L}\p{N}_$.-]/u);
    if (word === "") throw unreadable;
    this.repairs.add("quotes were put around keys");
    return word;
  }

  #readLetters(pattern: RegExp): string {
    const { source } = this;
    const start = this.at;
    while (!isOver(source, this.at) && pattern.test(source.text.charAt(this.at))) {
      this.at += 1;
      if (this.at - start > 256) throw unreadable;
    }
    source.steps += this.at - start;
    return source.text.slice(start, this.at);
  }

  #readWord(place: StringPlace): unknown {
    const { source } = this;
    const word = this.#readLetters(/[\p{L}\p{N}_+.-]/u);
    if (/^[rRbBuU]$/u.test(word) && this.#isPython && isQuote(source.text.charAt(this.at)))
      return this.#readText(place, word.toLowerCase() === "r");
    this.#isBroken = isOver(source, this.at);
    if (words.has(word)) return words.get(word);
    if (pythonWords.has(word)) {
      if (!this.#isPython) this.repairs.add("True, False or None of Python were read");
      return pythonWords.get(word);
    }
    if (/^[+-]?(?:\d[\d_]*(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/u.test(word)) {
      const number = Number(word.replaceAll("_", ""));
      if (!Number.isFinite(number)) throw unreadable;
      const isJson = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/u.test(word);
      if (!isJson) this.repairs.add("a number was written as JSON");
      return number;
    }
    if (this.#isBroken && word !== "") return null;
    throw unreadable;
  }

  #skipComma(): void {
    let commas = 0;
    let character = this.skip();
    for (; character !== "" && ",，".includes(character); character = this.skip()) {
      commas += 1;
      this.at += 1;
      this.#isBroken = false;
    }
    if (character === "") return;
    const isClosing = "}])".includes(character);
    if (commas > 1 || (commas > 0 && isClosing && !this.#isPython)) this.repairs.add("a comma too many was dropped");
    if (commas > 0 || isClosing || this.#isMark(character)) return;
    if (this.#isPython || character === ";") throw unreadable;
    this.repairs.add("a missing comma was added");
  }
}

/** A property that is the object's own. */
export function ownValue(object: object, key: string): unknown {
  return Object.hasOwn(object, key) ? (object as Record<string, unknown>)[key] : undefined;
}

/** Sets a property that is the object's own, also one named `__proto__`. */
export function setOwn(object: object, key: string, value: unknown): void {
  Object.defineProperty(object, key, { value, enumerable: true, writable: true, configurable: true });
}
