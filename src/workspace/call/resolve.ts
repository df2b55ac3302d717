import type { Failure } from "../../core/errors.ts";
import type { ToolOutcome } from "../../core/outcome.ts";
import { refuseByAuthority, refuseMissing } from "./authority.ts";
import { spendBudget } from "./budget.ts";
import type { Phase } from "./phase.ts";

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
