import { toFailure, type Failure } from "../../core/errors.ts";
import type { Call } from "./call.ts";

/** So many calls more than it has may a call ask for and be refused; one that goes on is stopped. */
const patience = 1000;

/**
 * Counts a call inside a call, and says why it may not be made: the outermost one has used up what it has. Calls that fail for
 * another reason count as well, or a tool could try forever.
 */
export function spendBudget(call: Call): Failure | undefined {
  const { root } = call;
  if (call === root) return undefined;
  const limit = root.options.maxCalls ?? call.limit("maxCalls");
  root.callsMade += 1;
  if (root.callsMade <= limit) return undefined;
  const failure = toFailure("budget-spent", { tool: call.address, limit });
  if (root.callsMade > limit + patience) root.stop(failure);
  return failure;
}
