import type { RunResult } from "../run-result.ts";

/** Tells whether a run can be resumed: somebody stopped it or has taken it over, or the store was away, and may be there again. */
export function canGoOn({ status, reason, error }: Pick<RunResult, "status" | "reason" | "error">): boolean {
  if (status === "stopped") return reason === "cancelled" || reason === "lost";
  return status === "failed" && error !== undefined && storeFailures.has(error.code);
}

const storeFailures: ReadonlySet<string> = new Set([
  "store-unavailable",
  "store-conflict",
  "store-closed",
  "store-failed",
]);
