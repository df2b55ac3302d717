import type { ToolOutcome } from "../../core/outcome.ts";
import { toPrintable } from "../printable.ts";
import type { Terminal } from "../terminal.ts";

/** Writes what a step shows: an outcome with its status first, anything else as JSON. */
export function renderShown(value: unknown, terminal: Pick<Terminal, "style">): string {
  if (!isOutcome(value)) return `${terminal.style("blue", "→")} ${toText(value)}`;
  if (value.status === "failed") {
    const { code, message } = value.error;
    return `${terminal.style("red", "✗ failed")} ${terminal.style("dim", code)}\n  ${toPrintable(message)}`;
  }
  const changes = (value.coerced ?? []).map(({ path, from, to }) => `\n  put right: ${path} from ${from} to ${to}`);
  return `${terminal.style("green", "✓ ok")} ${toText(value.output)}${terminal.style("dim", changes.join(""))}`;
}

function isOutcome(value: unknown): value is ToolOutcome {
  return typeof value === "object" && value !== null && "status" in value;
}

function toText(value: unknown): string {
  return toPrintable(typeof value === "string" ? value : JSON.stringify(value));
}
