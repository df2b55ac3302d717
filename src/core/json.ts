import { describeCause, quote, type Problem } from "./errors.ts";

/** A value that JSON can hold. */
export type JsonValue = null | boolean | number | string | readonly JsonValue[] | JsonObject;

/** An object that JSON can hold. */
export interface JsonObject {
  readonly [key: string]: JsonValue;
}

/** How large a JSON value may be. */
export interface JsonLimits {
  /** In bytes of its JSON text, as UTF-8; what JSON escapes (a line break, a quote) counts as it is. */
  readonly maxBytes: number;
  readonly maxDepth: number;
}

/** What {@link copyJson} answers. */
export type JsonCopy =
  | { readonly ok: true; readonly value: JsonValue; readonly bytes: number }
  | { readonly ok: false; readonly reason: "not-json"; readonly problem: Problem }
  | { readonly ok: false; readonly reason: "too-large" };

/** Lists and objects need more memory than text: one for so many bytes is the most there may be, beyond the first few. */
const bytesForContainer = 16;
const fewContainers = 100_000;

/** How deep a value may be nested by default. */
export const maxJsonDepth = 64;

/**
 * Copies `value` as JSON, so that it cannot change afterwards, and measures it: `bytes` is the length of `JSON.stringify(value)` in
 * UTF-8, in which an escape (`\\n`, `\\u0000`) counts as the character that it stands for. The JSON text is at most six times as long.
 *
 * Contract: never throws, for any value; takes time in proportion to `maxBytes` at the most, and to the number of keys of the
 * objects it reaches. Properties that are `undefined` or have a symbol as their key are left out and -0 becomes 0, as JSON does;
 * everything else that JSON cannot hold (NaN, a Date, a class instance, a cycle, the key `__proto__`) is a problem and not
 * silently changed. A value that throws when it is read is a problem too. One that is there twice is copied twice.
 */
export function copyJson(value: unknown, limits: JsonLimits): JsonCopy {
  const copier = new JsonCopier(value, limits);
  try {
    return { ok: true, value: copier.copy(value, 0), bytes: copier.bytes };
  } catch (cause) {
    if (cause === tooLarge) return { ok: false, reason: "too-large" };
    return { ok: false, reason: "not-json", problem: copier.problem ?? unreadable(copier.where(), cause) };
  }
}

/** Copies a value that is known to be JSON. */
export function cloneJson<Value extends JsonValue>(value: Value): Value {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((item: JsonValue) => cloneJson(item)) as unknown as Value;
  const copied: Record<string, JsonValue> = {};
  for (const key of Object.keys(value)) copied[key] = cloneJson((value as JsonObject)[key] as JsonValue);
  return copied as Value;
}

/** Made once: they only carry control to `copyJson`, and a stack costs more than the rest. */
const tooLarge = new Error("The value is too large");
const notJson = new Error("The value is not JSON");

class JsonCopier {
  bytes = 0;
  problem: Problem | undefined;
  readonly #root: unknown;
  readonly #maxBytes: number;
  readonly #maxDepth: number;
  /** Keys and indexes from the root to what is being copied; only the first `#level` of them are of now. */
  readonly #path: (string | number)[] = [];
  #level = 0;
  #containersLeft: number;

  constructor(root: unknown, { maxBytes, maxDepth }: JsonLimits) {
    this.#root = root;
    this.#maxBytes = maxBytes;
    this.#maxDepth = maxDepth;
    this.#containersLeft = Math.max(fewContainers, maxBytes / bytesForContainer);
  }

  /** The place that is being copied. A deep one is cut: it would be longer than the message it stands in. */
  where(): string {
    return toPath(this.#path.slice(0, Math.min(this.#level, 12)));
  }

  copy(value: unknown, depth: number): JsonValue {
    if (typeof value === "string") return this.#copyText(value);
    if (typeof value === "object" && value !== null) return this.#copyObject(value, depth);
    if (typeof value === "number" && Number.isFinite(value)) {
      this.#count(value >= 0 && value < 10 && Number.isInteger(value) ? 1 : String(value).length);
      return value === 0 ? 0 : value;
    }
    if (typeof value === "boolean" || value === null) {
      this.#count(value === false ? 5 : 4);
      return value;
    }
    return this.#refuse(typeof value === "number" ? "a finite number" : "a JSON value", showValue(value));
  }

  #copyText(text: string): string {
    // No character is shorter than a byte, so a text that is far too long need not be read.
    if (this.bytes + text.length > this.#maxBytes) throw tooLarge;
    this.#count(textBytes(text));
    return text;
  }

  #copyObject(value: object, depth: number): JsonValue {
    if (depth >= this.#maxDepth)
      return this.#refuse(
        `at most ${this.#maxDepth} levels`,
        this.#isCycle(value) ? "an object that contains itself" : "more",
      );
    this.#containersLeft -= 1;
    if (this.#containersLeft < 0) throw tooLarge;
    this.#count(2);
    return Array.isArray(value) ? this.#copyArray(value, depth) : this.#copyRecord(value, depth);
  }

  #copyArray(value: readonly unknown[], depth: number): JsonValue {
    const copied: JsonValue[] = [];
    for (let index = 0; index < value.length; index++) {
      this.#path[depth] = index;
      this.#level = depth + 1;
      if (index > 0) this.#count(1);
      copied.push(this.copy(value[index], depth + 1));
    }
    return copied;
  }

  #copyRecord(value: object, depth: number): JsonValue {
    if (!isPlain(value)) return this.#refuse("a plain object", describeInstance(value));
    const copied: Record<string, JsonValue> = {};
    let comma = 0;
    for (const key of Object.keys(value)) {
      this.#path[depth] = key;
      this.#level = depth + 1;
      const property = (value as Record<string, unknown>)[key];
      if (property === undefined) continue;
      if (key === "__proto__") return this.#refuse("another key", 'the key "__proto__"');
      this.#count(comma + textBytes(key) + 1);
      comma = 1;
      copied[key] = this.copy(property, depth + 1);
    }
    return copied;
  }

  #count(bytes: number): void {
    this.bytes += bytes;
    if (this.bytes > this.#maxBytes) throw tooLarge;
  }

  #refuse(expected: string, found: string): never {
    this.problem = { path: this.where(), expected, found };
    throw notJson;
  }

  #isCycle(value: object): boolean {
    let ancestor = this.#root;
    for (const step of this.#path.slice(0, this.#level)) {
      if (ancestor === value) return true;
      ancestor = (ancestor as Record<string | number, unknown>)[step];
    }
    return false;
  }
}

/** The longest key that a path shows as it is. */
const longestPlainKey = 64;

/** Writes keys and indexes as one path: `filters[0].size`. */
export function toPath(steps: readonly (string | number)[]): string {
  let path = "";
  for (const step of steps) {
    if (typeof step === "number") path += `[${step}]`;
    else if (isPlainKey(step)) path += path === "" ? step : `.${step}`;
    else path += `[${quote(step)}]`;
  }
  return path;
}

function isPlainKey(key: string): boolean {
  return key.length <= longestPlainKey && /^[\p{L}_$][\p{L}\p{N}_$-]*$/u.test(key);
}

/** Shows a value in a message, shortened. Never throws, for any value. */
export function showValue(value: unknown): string {
  switch (typeof value) {
    case "string":
      return quote(value);
    case "undefined":
      return "nothing";
    case "bigint":
      return `the BigInt ${quote(String(value))}`;
    case "number":
    case "boolean":
      return String(value);
    case "object":
      return value === null ? "null" : showObject(value);
    case "function":
    case "symbol":
      return `a ${typeof value}`;
  }
}

function showObject(value: object): string {
  try {
    if (Array.isArray(value)) return value.length === 0 ? "an empty list" : `a list of ${value.length}`;
    return isPlain(value) ? "an object" : describeInstance(value);
  } catch {
    // A proxy may throw whenever it is read.
    return "an object that cannot be read";
  }
}

/** Tells whether `value` is an object of any kind: a list and an instance of a class, too. */
export function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

/** Tells whether `value` is an object with parts, and not a list or an instance of something. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value) && isPlain(value);
}

/** Tells whether `value` is an object literal, of this or another realm, and not an instance of some class. */
function isPlain(value: object): boolean {
  const prototype = Object.getPrototypeOf(value) as object | null;
  return prototype === Object.prototype || prototype === null || isOtherRealmsObject(prototype);
}

function isOtherRealmsObject(prototype: object): boolean {
  return Object.getPrototypeOf(prototype) === null && Object.hasOwn(prototype, "isPrototypeOf");
}

function describeInstance(value: object): string {
  if (value instanceof Date) return "a Date (give its toISOString())";
  if (value instanceof Map) return "a Map (give Object.fromEntries() of it)";
  if (value instanceof Set) return "a Set (give a list of its values)";
  const name: unknown = value.constructor?.name;
  return typeof name === "string" && name !== "" ? `an instance of ${quote(name)}` : "an object that is not plain";
}

/** How long `text` is in UTF-8, with quotes. */
function textBytes(text: string): number {
  return Buffer.byteLength(text) + 2;
}

function unreadable(path: string, cause: unknown): Problem {
  return { path, expected: "a value that can be read", found: `one that throws: ${describeCause(cause)}` };
}

/**
 * Writes a JSON value in the one way there is (RFC 8785): keys in the order of their UTF-16 units, no blanks, `-0` as 0. Values
 * that are equal give the same text. Only for values that are plain and not too deep.
 */
export function toCanonicalJson(value: JsonValue): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(toCanonicalJson).join(",")}]`;
  let text = "{";
  for (const key of Object.keys(value).toSorted()) {
    const item = (value as Readonly<Record<string, JsonValue | undefined>>)[key];
    if (item === undefined) continue;
    text += `${text === "{" ? "" : ","}${JSON.stringify(key)}:${toCanonicalJson(item)}`;
  }
  return `${text}}`;
}
