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
