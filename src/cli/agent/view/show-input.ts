import type { JsonValue } from "../../../core/json.ts";
import { toPrintableLine } from "../../printable.ts";
import type { ToolOutcome } from "../../../core/outcome.ts";

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

/** What came of a call, on one line. */
export function showOutcome(outcome: ToolOutcome): string {
  return outcome.status === "ok" ? showOutput(outcome.output) : toPrintableLine(outcome.error.message);
}

function showOutput(output: JsonValue): string {
  const text = typeof output === "string" ? output.trim() : JSON.stringify(output);
  return text === "" ? "(nothing)" : toPrintableLine(text);
}
