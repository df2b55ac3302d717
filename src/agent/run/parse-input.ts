import { isDeepStrictEqual } from "node:util";

import { copyJson, type JsonValue, maxJsonDepth, showValue } from "../../core/json.ts";
import { patternRedactor } from "../../core/redaction/pattern-redactor.ts";
import { repairToolInput } from "../../models/prompted/repair-tool-input.ts";
import type { CallChanged } from "../events.ts";

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

/** Walks level by level: recursion into a deep value would overflow the stack. */
function isTooDeep(input: JsonValue): boolean {
  let level: JsonValue[] = [input];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > maxJsonDepth) return true;
    level = level.flatMap((value) => (typeof value === "object" && value !== null ? Object.values(value) : []));
  }
  return false;
}

const maxBytes = 1_000_000;

/** Says what a call is made with, without what looks like a secret. */
export function toCallChanged(place: Omit<CallChanged, "type" | "input">, given: JsonValue): CallChanged {
  // The call itself says what is wrong with an input that is no JSON.
  const copy = copyJson(given, { maxBytes, maxDepth: maxJsonDepth });
  const input = patternRedactor(["credentials"]).value(copy.ok ? copy.value : showValue(given));
  const isWhole = copy.ok && isDeepStrictEqual(input, copy.value);
  return { type: "call-changed", ...place, input, ...(!isWhole && { redacted: true }) };
}
