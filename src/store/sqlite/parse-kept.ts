import type { JsonValue } from "../../core/json.ts";
import { sqliteError } from "./sqlite-errors.ts";

/** Reads a value that is in the file. What is not JSON was not written by us: the file is damaged. */
export function parseKept(text: string): JsonValue {
  try {
    return JSON.parse(text) as JsonValue;
  } catch (cause) {
    throw sqliteError("corrupt", "a value is not JSON", { cause });
  }
}
