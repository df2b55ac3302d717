import type { JsonValue } from "../../core/json.ts";
import type { JsonSchema } from "../../core/schema/json-schema.ts";
import { getChoices, getTypes } from "./parameter.ts";

/**
 * The value that a text of the command line stands for where `schema` is wanted: `3` is a number for a number and a text for a
 * text. A text that stands for nothing of the kind stays text, for the check of the call to report.
 */
export function fromText(root: JsonSchema, schema: JsonSchema, text: string): JsonValue {
  const choices = getChoices(root, schema);
  const types = getTypes(root, schema);
  if (choices.includes(text)) return text;
  const choice = choices.find((candidate) => isSimple(candidate) && String(candidate) === text);
  if (choice !== undefined) return choice as JsonValue;
  if (types.size === 0) return parseAnything(text);
  for (const type of types) {
    const value = fromTextAs(type, text);
    // Where text is welcome too, a number must look exactly like one: 007 is a name.
    if (value !== undefined && (!types.has("string") || isExact(value, text))) return value;
  }
  return text;
}

function isSimple(value: unknown): boolean {
  return value === null || typeof value === "number" || typeof value === "boolean";
}

function isExact(value: JsonValue, text: string): boolean {
  return typeof value === "object" ? value !== null : String(value) === text;
}

function fromTextAs(type: string, text: string): JsonValue | undefined {
  switch (type) {
    case "number":
    case "integer":
      return parseNumber(text);
    case "boolean":
      return text === "true" || text === "false" ? text === "true" : undefined;
    case "null":
      return text === "null" ? null : undefined;
    case "array":
      return parseContainer(text, "[");
    case "object":
      return parseContainer(text, "{");
    default:
      return undefined;
  }
}

function parseNumber(text: string): number | undefined {
  if (!/^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/u.test(text)) return undefined;
  const number = Number(text);
  // A number that would not be the one that was written stays text, and is reported.
  const isSafe = Number.isInteger(number) ? Number.isSafeInteger(number) : Number.isFinite(number);
  return isSafe ? number : undefined;
}

function parseContainer(text: string, opening: "[" | "{"): JsonValue | undefined {
  return text.trimStart().startsWith(opening) ? parseJson(text) : undefined;
}

function parseAnything(text: string): JsonValue {
  const value = /^\s*(?:[[{"\d-]|true|false|null)/u.test(text) ? parseJson(text) : undefined;
  return typeof value === "number" && String(value) !== text ? text : (value ?? (text === "null" ? null : text));
}

function parseJson(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return undefined;
  }
}
