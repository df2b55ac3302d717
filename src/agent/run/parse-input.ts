import type { JsonValue } from "../../core/json.ts";
import { repairToolInput } from "../../models/prompted/repair-tool-input.ts";

/** What a model wrote as the input of a call. */
export interface ParsedInput {
  /** The value; the text itself if it is nothing that can be read. */
  readonly input: JsonValue;
  /** What had to be repaired, in words. */
  readonly repairs?: readonly string[];
}

/** Reads the input of a call. */
export function parseInput(text: string): ParsedInput {
  if (text.trim() === "") return { input: {} };
  try {
    return { input: JSON.parse(text) as JsonValue };
  } catch {
    const repaired = repairToolInput(text);
    return repaired.ok ? { input: repaired.input, repairs: repaired.repairs } : { input: text };
  }
}
