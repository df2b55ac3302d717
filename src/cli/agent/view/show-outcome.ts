import type { ToolOutcome } from "../../../core/outcome.ts";
import type { JsonValue } from "../../../core/json.ts";
import { toPrintableLine } from "../../printable.ts";

/** What came of a call, on one line. */
export function showOutcome(outcome: ToolOutcome): string {
  return outcome.status === "ok" ? showOutput(outcome.output) : toPrintableLine(outcome.error.message);
}

function showOutput(output: JsonValue): string {
  const text = typeof output === "string" ? output.trim() : JSON.stringify(output);
  return text === "" ? "(nothing)" : toPrintableLine(text);
}
