import type { Failure } from "../../core/errors.ts";
import type { ToolOutcome } from "../../core/outcome.ts";
import { spendBudget } from "./budget.ts";
import type { Phase } from "./phase.ts";

/** Ends the call if it was cancelled before it began, may not be made any more, or asks for what is no tool. */
export const resolve: Phase = (call, next) => {
  const refused = call.stopped ?? spendBudget(call);
  if (refused !== undefined) return refuse(refused);
  if (call.resolution.ok) return next();
  return { status: "failed", error: call.resolution.failure };
};

/** Lets everybody else go first: a tool that tries again and again must not keep the process from doing anything else. */
async function refuse(error: Failure): Promise<ToolOutcome> {
  await new Promise(setImmediate);
  return { status: "failed", error };
}
