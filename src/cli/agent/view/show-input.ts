import type { JsonValue } from "../../../core/json.ts";
import { toPrintableLine } from "../../printable.ts";

/** The input of a call in a few words: `file: README.md, top: 3`. */
export function showInput(input: JsonValue): string {
  if (typeof input !== "object" || input === null || Array.isArray(input)) return showValue(input);
  return Object.entries(input)
    .map(([name, value]) => `${toPrintableLine(name)}: ${showValue(value)}`)
    .join(", ");
}

/** A value on one line; a plain text as it is. */
export function showValue(value: JsonValue): string {
  const isPlain = typeof value === "string" && /^[^\s"'{[][^\n]{0,200}$/u.test(value);
  return toPrintableLine(isPlain ? value : JSON.stringify(value));
}
