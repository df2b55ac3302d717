import type { ToolOutcome } from "../../core/outcome.ts";

/** Tells whether a value is what can come of a call. */
export function isOutcome(value: unknown): value is ToolOutcome {
  if (typeof value !== "object" || value === null || !("status" in value)) return false;
  if (value.status === "ok") return "output" in value && value.output !== undefined;
  if (value.status !== "failed" || !("error" in value)) return false;
  const { error } = value;
  return typeof error === "object" && error !== null && "message" in error && typeof error.message === "string";
}
