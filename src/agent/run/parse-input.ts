import { maxJsonDepth, type JsonValue } from "../../core/json.ts";
import { repairToolInput } from "../../models/prompted/repair-tool-input.ts";

/** What a model wrote as the input of a call. */
export interface ParsedInput {
  /** The value; the text itself if it is nothing that can be read. */
  readonly input: JsonValue;
  /** What had to be repaired, in words. */
  readonly repairs?: readonly string[];
}

/**
 * Reads the input of a call. One of an answer that was too long is not repaired: what is missing at its end is not known, and half a
 * file must not be written.
 */
export function parseInput(text: string, finishReason?: string): ParsedInput {
  if (text.trim() === "") return { input: {} };
  try {
    return { input: toShallow(text, JSON.parse(text) as JsonValue) };
  } catch {
    const repaired = finishReason === "length" ? undefined : repairToolInput(text);
    if (repaired?.ok !== true) return { input: text };
    return { input: toShallow(text, repaired.input), repairs: repaired.repairs };
  }
}

/** The value, unless it is deeper than anything can be that is written down or shown to a model: then the text. */
function toShallow(text: string, input: JsonValue): JsonValue {
  return hasManyBrackets(text) && isTooDeep(input) ? text : input;
}

function hasManyBrackets(text: string): boolean {
  let brackets = 0;
  for (let index = 0; index < text.length; index++) {
    const char = text[index];
    if ((char === "[" || char === "{") && ++brackets > maxJsonDepth) return true;
  }
  return false;
}

/** Level by level: a value that is deep enough breaks whoever goes down. */
function isTooDeep(input: JsonValue): boolean {
  let level: JsonValue[] = [input];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > maxJsonDepth) return true;
    level = level.flatMap((value) => (typeof value === "object" && value !== null ? Object.values(value) : []));
  }
  return false;
}
