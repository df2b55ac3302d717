import { copyJson, type JsonValue } from "../json.ts";

/** Makes `value` into what a model most likely meant by it, where `type` is wanted; `undefined` if nothing is likely. */
export function convertTo(type: string, value: JsonValue, maxDepth: number): JsonValue | undefined {
  switch (type) {
    case "number":
      return parseNumber(value);
    case "integer": {
      const number = parseNumber(value);
      return Number.isSafeInteger(number) ? number : undefined;
    }
    case "boolean":
      return parseBoolean(value);
    case "string":
      return typeof value === "number" || typeof value === "boolean" ? String(value) : undefined;
    case "array":
      return parseContainer(value, "[", maxDepth);
    case "object":
      return parseContainer(value, "{", maxDepth);
    default:
      return undefined;
  }
}

/** No number that a model means is longer. */
const longestNumber = 64;

function parseNumber(value: JsonValue): number | undefined {
  if (typeof value !== "string" || value.length > longestNumber) return undefined;
  if (!/^\s*[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?\s*$/u.test(value)) return undefined;
  const number = Number(value);
  // A long id that would lose its last digits is not a number.
  if (/^\s*[+-]?\d+\s*$/u.test(value) && !Number.isSafeInteger(number)) return undefined;
  return Number.isFinite(number) ? number : undefined;
}

const booleanWords: Readonly<Record<string, boolean>> = { true: true, yes: true, false: false, no: false };

function parseBoolean(value: JsonValue): boolean | undefined {
  if (value === 1 || value === 0) return value === 1;
  if (typeof value !== "string" || value.length > longestNumber) return undefined;
  const word = value.trim().toLowerCase();
  return Object.hasOwn(booleanWords, word) ? booleanWords[word] : undefined;
}

/** The longest text that is read as a list or an object. */
const longestContainer = 1_000_000;

/** A model sometimes writes a list or an object as the text of it. */
function parseContainer(value: JsonValue, opening: "[" | "{", maxDepth: number): JsonValue | undefined {
  if (typeof value !== "string" || value.length > longestContainer) return undefined;
  if (!value.trimStart().startsWith(opening)) return undefined;
  try {
    // The text went through the check of depth and keys as a text only.
    const copy = copyJson(JSON.parse(value), { maxBytes: longestContainer * 3, maxDepth });
    return copy.ok ? copy.value : undefined;
  } catch {
    return undefined;
  }
}
