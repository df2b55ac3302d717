import { quote, type Problem } from "./errors.ts";

/** A value that JSON can hold. */
export type JsonValue = null | boolean | number | string | readonly JsonValue[] | JsonObject;

/** An object that JSON can hold. */
export interface JsonObject {
  readonly [key: string]: JsonValue;
}

/** How large a JSON value may be. */
export interface JsonLimits {
  /** In bytes of its JSON text, as UTF-8. */
  readonly maxBytes: number;
  readonly maxDepth: number;
}

/** What {@link copyJson} answers. */
export type JsonCopy =
  | { readonly ok: true; readonly value: JsonValue; readonly bytes: number }
  | { readonly ok: false; readonly reason: "not-json"; readonly problem: Problem }
  | { readonly ok: false; readonly reason: "too-large" };

/** How deep a value may be nested, unless somebody says otherwise. */
export const maxJsonDepth = 64;

/**
 * Copies `value` as JSON, so that nobody can change it afterwards, and measures it.
 *
 * Contract: never throws, for any value; takes time in proportion to `maxBytes` at the most. `undefined` properties are left
 * out, as JSON does; everything else that JSON cannot hold (NaN, a Date, a class instance, a cycle, the key `__proto__`) is a
 * problem and not silently changed. A value that throws when it is read is a problem too.
 */
export function copyJson(value: unknown, limits: JsonLimits): JsonCopy {
  const copier = new JsonCopier(limits);
  try {
    return { ok: true, value: copier.copy(value, 0), bytes: copier.bytes };
  } catch (cause) {
    if (cause === tooLarge) return { ok: false, reason: "too-large" };
    return { ok: false, reason: "not-json", problem: copier.problem ?? unreadable(copier.path, cause) };
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

const tooLarge = Symbol("too large");
const notJson = Symbol("not JSON");

class JsonCopier {
  bytes = 0;
  path: (string | number)[] = [];
  problem: Problem | undefined;
  readonly #limits: JsonLimits;
  readonly #ancestors: object[] = [];

  constructor(limits: JsonLimits) {
    this.#limits = limits;
  }

  copy(value: unknown, depth: number): JsonValue {
    switch (typeof value) {
      case "string":
        this.#count(stringBytes(value));
        return value;
      case "number":
        if (!Number.isFinite(value)) return this.#refuse("a finite number", String(value));
        this.#count(8);
        return value;
      case "boolean":
        this.#count(5);
        return value;
      case "object":
        if (value === null) {
          this.#count(4);
          return null;
        }
        return this.#copyObject(value, depth);
      case "bigint":
        return this.#refuse("a number or a string", `the BigInt ${quote(String(value))}`);
      default:
        return this.#refuse("a JSON value", value === undefined ? "undefined" : `a ${typeof value}`);
    }
  }

  #copyObject(value: object, depth: number): JsonValue {
    if (depth >= this.#limits.maxDepth) {
      const cyclic = this.#ancestors.includes(value);
      return this.#refuse(
        `at most ${this.#limits.maxDepth} levels`,
        cyclic ? "an object that contains itself" : "more",
      );
    }
    this.#ancestors.push(value);
    this.#count(2);
    const copied = Array.isArray(value) ? this.#copyArray(value, depth) : this.#copyRecord(value, depth);
    this.#ancestors.pop();
    return copied;
  }

  #copyArray(value: readonly unknown[], depth: number): JsonValue {
    const copied: JsonValue[] = [];
    for (let index = 0; index < value.length; index++) {
      this.path.push(index);
      this.#count(1);
      copied.push(this.copy(value[index], depth + 1));
      this.path.pop();
    }
    return copied;
  }

  #copyRecord(value: object, depth: number): JsonValue {
    if (!isPlain(value)) return this.#refuse("a plain object", describeInstance(value));
    const copied: Record<string, JsonValue> = {};
    for (const key of Object.keys(value)) {
      const property = (value as Record<string, unknown>)[key];
      if (property === undefined) continue;
      this.path.push(key);
      if (key === "__proto__") return this.#refuse("another key", 'the key "__proto__"');
      this.#count(stringBytes(key) + 2);
      copied[key] = this.copy(property, depth + 1);
      this.path.pop();
    }
    return copied;
  }

  #count(bytes: number): void {
    this.bytes += bytes;
    if (this.bytes > this.#limits.maxBytes) throw tooLarge;
  }

  #refuse(expected: string, found: string): never {
    // A deep path would be longer than the message it stands in.
    this.problem = { path: toPath(this.path.slice(0, 12)), expected, found };
    throw notJson;
  }
}

/** Writes keys and indexes as one path: `filters[0].size`. */
export function toPath(steps: readonly (string | number)[]): string {
  let path = "";
  for (const step of steps) {
    if (typeof step === "number") path += `[${step}]`;
    else if (/^[\p{L}_$][\p{L}\p{N}_$-]*$/u.test(step)) path += path === "" ? step : `.${step}`;
    else path += `[${quote(step)}]`;
  }
  return path;
}

/** Shows a value in a message, shortened. */
export function showValue(value: unknown): string {
  if (typeof value === "string") return quote(value);
  if (value === undefined) return "nothing";
  if (value === null || typeof value === "number" || typeof value === "boolean") return String(value);
  if (Array.isArray(value)) return value.length === 0 ? "an empty list" : `a list of ${value.length}`;
  if (typeof value === "object") return isPlain(value) ? "an object" : describeInstance(value);
  return typeof value === "bigint" ? `the BigInt ${value}` : `a ${typeof value}`;
}

/** Tells whether `value` is an object literal, of this or another realm, and not an instance of some class. */
export function isPlain(value: object): boolean {
  const prototype = Object.getPrototypeOf(value) as object | null;
  return prototype === Object.prototype || prototype === null || isOtherRealmsObject(prototype);
}

function isOtherRealmsObject(prototype: object): boolean {
  return Object.getPrototypeOf(prototype) === null && Object.hasOwn(prototype, "isPrototypeOf");
}

function describeInstance(value: object): string {
  if (value instanceof Date) return "a Date (give its toISOString())";
  const name: unknown = value.constructor?.name;
  return typeof name === "string" && name !== "" ? `an instance of ${quote(name)}` : "an object that is not plain";
}

function stringBytes(text: string): number {
  // Most strings are short and plain; counting them here is cheaper than asking for their bytes.
  if (text.length > 64) return Buffer.byteLength(text) + 2;
  let bytes = text.length + 2;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code > 0x7f) bytes += code > 0x7ff ? 2 : 1;
  }
  return bytes;
}

function unreadable(path: readonly (string | number)[], cause: unknown): Problem {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return { path: toPath(path), expected: "a value that can be read", found: `one that throws: ${reason}` };
}
