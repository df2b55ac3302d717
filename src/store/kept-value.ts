import { KitbagError, type Problem } from "../core/errors.ts";
import { copyJson, type JsonLimits, type JsonValue } from "../core/json.ts";

const limits = { maxBytes: 32 * 1024 * 1024, maxDepth: 128 };

/**
 * Copies a value on its way into a store. `index` says which one of a list it is.
 *
 * @throws {KitbagError} `store-value-invalid` if the contract of `Store` does not allow it.
 */
export function toKept(where: string, value: unknown, index?: number): JsonValue {
  return copyWithin(limits, index === undefined ? where : `${where}[${index}]`, value);
}

/** What is left of the limits for something inside of a record: its keys are short, and so is what else it holds. */
const limitsWithin = { maxBytes: limits.maxBytes - 64 * 1024, maxDepth: limits.maxDepth - 1 };

/** Copies a value that goes into a store as one property of a record, like {@link toKept}. */
export function toKeptWithin(where: string, value: unknown): JsonValue {
  return copyWithin(limitsWithin, where, value);
}

function copyWithin(within: JsonLimits, where: string, value: unknown): JsonValue {
  const copy = copyJson(value, within);
  if (copy.ok) return copy.value;
  const problem = copy.reason === "too-large" ? tooLarge : copy.problem;
  throw new KitbagError("store-value-invalid", { where, problems: [problem] });
}

const tooLarge: Problem = {
  path: "",
  expected: `at most ${limits.maxBytes / 1024 / 1024} MiB (keep it in blobs)`,
  found: "more",
};

/** Copies a value on its way out of a store: it was checked on its way in. */
export function fromKept(value: JsonValue): JsonValue {
  if (typeof value !== "object" || value === null) return value;
  if (isList(value)) return value.map(fromKept);
  const copy: Record<string, JsonValue> = {};
  for (const key of Object.keys(value)) copy[key] = fromKept(value[key] as JsonValue);
  return copy;
}

function isList(value: object): value is readonly JsonValue[] {
  return Array.isArray(value);
}

/**
 * Writes a value as JSON on its way into a store. One that is plainly JSON is only looked at: its text is the copy. `index` says which
 * one of a list it is.
 *
 * @throws {KitbagError} `store-value-invalid` if the contract of `Store` does not allow it.
 */
export function toKeptText(where: string, value: unknown, index: number): string {
  try {
    if (isPlainJson(value)) return JSON.stringify(value);
  } catch {
    // It throws when it is read: the copy says where.
  }
  return JSON.stringify(toKept(where, value, index));
}

/** A fast check whether a value is surely JSON. `false` is not final: `copyJson` decides then. */
function isPlainJson(value: unknown): boolean {
  return new Look().isPlain(value, 0);
}

/** Far below the limits of a store: only values above these are measured exactly. */
const plainly = { depth: 32, units: 1_000_000 };

/** One check of a value. It never accepts a value that `copyJson` refuses; doubtful values are left to `copyJson`. */
class Look {
  /** One for each value, and for each character of a text or a key. */
  #unitsLeft = plainly.units;

  isPlain(value: unknown, depth: number): boolean {
    this.#unitsLeft -= typeof value === "string" ? value.length : 1;
    if (this.#unitsLeft < 0) return false;
    if (typeof value === "object") {
      return value === null || (depth < plainly.depth && this.#isPlainObject(value, depth + 1));
    }
    return typeof value === "string" || typeof value === "boolean" || Number.isFinite(value);
  }

  #isPlainObject(value: object, depth: number): boolean {
    // Even one that is not listed among the keys is asked when the text is made.
    if ((value as { readonly toJSON?: unknown }).toJSON !== undefined) return false;
    if (Array.isArray(value)) return this.#hasPlainItems(value, depth);
    return Object.getPrototypeOf(value) === Object.prototype && this.#hasPlainProperties(value, depth);
  }

  #hasPlainItems(value: readonly unknown[], depth: number): boolean {
    // By number: `every` leaves holes out.
    for (let index = 0; index < value.length; index++) if (!this.isPlain(value[index], depth)) return false;
    return true;
  }

  #hasPlainProperties(value: object, depth: number): boolean {
    for (const key in value) {
      const property = (value as Record<string, unknown>)[key];
      this.#unitsLeft -= key.length;
      if (key === "__proto__" || (property !== undefined && !this.isPlain(property, depth))) return false;
    }
    return true;
  }
}
