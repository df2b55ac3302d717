import type { ErrorCode } from "../../core/errors.ts";
import type { FailedOutcome, ToolOutcome } from "../../core/outcome.ts";

/** Failures that another try may not have. */
const passing: ReadonlySet<ErrorCode> = new Set(["tool-failed", "script-failed", "sandbox-failed"]);

/** Failures that say something about the tool, and not about who called it. */
const faults: ReadonlySet<ErrorCode> = new Set([
  ...passing,
  "call-timeout",
  "memory-exceeded",
  "output-flooded",
  "output-invalid",
  "output-too-large",
  "interpreter-missing",
]);

/** Tells whether it is worth while to try once more. */
export function mayPass(outcome: ToolOutcome): boolean {
  return outcome.status === "failed" && passing.has(outcome.error.code);
}

/** Tells whether the tool is to blame. */
export function isFault(outcome: ToolOutcome): outcome is FailedOutcome {
  return outcome.status === "failed" && faults.has(outcome.error.code);
}
