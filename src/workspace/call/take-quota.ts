import { isKitbagError } from "../../core/errors.ts";
import type { ToolOutcome } from "../../core/outcome.ts";
import type { Account } from "../../core/quotas.ts";
import { describeThrown } from "../describe-thrown.ts";
import type { Call } from "./call.ts";
import type { Next } from "./phase.ts";
import { anyPlace } from "./slots.ts";
import { withPlace } from "./with-place.ts";

/** Runs a call in one of the places that the user's quota has in all processes together; without such a quota, it just runs. */
export async function withQuotaPlace(call: Call, account: Account, run: Next): Promise<ToolOutcome> {
  const { concurrent: limit } = account.limits;
  if (limit === undefined) return run();
  const { slots, close } = call.host.quotaPlaces.open(account);
  let hasPlace = false;
  try {
    const outcome = await withPlace(call, slots, anyPlace, () => {
      hasPlace = true;
      return run();
    });
    if (hasPlace || outcome.status === "ok" || outcome.error.code !== "limit-reached") return outcome;
    return call.fail("quota-reached", { user: account.user, quota: "concurrent", limit, used: limit });
  } finally {
    close();
  }
}

/** Runs a call if the user may make one more today: only calls that have a place are counted. */
export async function countCall(call: Call, account: Account, next: Next): Promise<ToolOutcome> {
  if (account.limits.calls === undefined) return next();
  try {
    await call.host.quotas.spend(account, "calls", 1);
  } catch (cause) {
    if (isKitbagError(cause, "quota-reached")) return call.fail(cause.code, cause.details);
    return call.fail("store-failed", { reason: describeThrown(cause), ran: false });
  }
  return next();
}
