import { type Failure, toFailure } from "../../core/errors.ts";
import type { ToolOutcome } from "../../core/outcome.ts";
import { refuseByAuthority, refuseMissing } from "./authority.ts";
import type { Phase } from "./phase.ts";
import type { Call } from "./call.ts";

/**
 * Ends the call if it was cancelled before it began, is beyond the budget, names no tool, or names one that its callers may not call.
 * That comes before the input is checked: a caller must not learn what a tool takes by trying.
 */
export const resolve: Phase = (call, next) => {
  const refused = call.stopped ?? spendBudget(call);
  if (refused !== undefined) return refuse(refused);
  if (!call.resolution.ok) return { status: "failed", error: refuseMissing(call, call.resolution) };
  const forbidden = refuseByAuthority(call);
  return forbidden === undefined ? next() : { status: "failed", error: forbidden };
};

/** Lets everybody else go first: a tool that tries again and again must not keep the process from doing anything else. */
async function refuse(error: Failure): Promise<ToolOutcome> {
  await new Promise(setImmediate);
  return { status: "failed", error };
}

/** How many calls beyond its budget a call may try, each of which is refused. After that the call is stopped. */
const patience = 1000;

/**
 * Counts a call inside a call, and says why it may not be made: the outermost one has used up what it has. Calls that fail for
 * another reason count as well, or a tool could try forever.
 */
function spendBudget(call: Call): Failure | undefined {
  const { root } = call;
  if (call === root) return undefined;
  const limit = root.options.maxCalls ?? call.limit("maxCalls");
  root.callsMade += 1;
  if (root.callsMade <= limit) return undefined;
  const failure = toFailure("budget-spent", { tool: call.address, limit });
  if (root.callsMade > limit + patience) root.stop(failure);
  return failure;
}
