import type { FailedOutcome, ToolOutcome } from "../../core/outcome.ts";
import { describeThrown } from "../describe-thrown.ts";
import type { Call } from "./call.ts";
import { type Next, raceStop } from "./phase.ts";
import { type SlotRequest, type Slots, type Waiting, anyPlace } from "./slots.ts";
import { describeCalls } from "../rates/rate-limit.ts";
import { isKitbagError } from "../../core/errors.ts";
import type { Account } from "../../core/quotas.ts";

/** Runs a call in a place, and waits for one if need be. */
export async function withPlace(call: Call, slots: Slots, request: SlotRequest, run: Next): Promise<ToolOutcome> {
  if (!slots.take(request)) {
    const failed = await waitForPlace(call, slots, request);
    if (failed !== undefined) return failed;
  }
  try {
    return await run();
  } finally {
    slots.free(request);
  }
}

async function waitForPlace(call: Call, slots: Slots, request: SlotRequest): Promise<FailedOutcome | undefined> {
  try {
    if (call.root.options.onLimit === "fail") {
      const full = await slots.takeElsewhere(request);
      return full === undefined ? undefined : refuseFull(call, full);
    }
    return await waitInLine(call, async () => {
      const { promise, leave } = slots.wait(request, waiterOf(call));
      const entered = await raceStop(call, promise);
      if (entered.ok) return undefined;
      const full = slots.describeFull(request);
      leave();
      // It never ran: it was the others who took too long.
      return entered.failure.code === "call-timeout"
        ? refuseFull(call, full)
        : { status: "failed", error: entered.failure };
    });
  } catch (cause) {
    return call.fail("store-failed", { reason: describeThrown(cause), ran: false });
  }
}

/** When a call will be over is unknown: asking again after this time is worth while. */
const retryAfterMs = 1000;

/** Lets a call wait, unless too many do already. */
export async function waitInLine(
  call: Call,
  wait: () => Promise<FailedOutcome | undefined>,
): Promise<FailedOutcome | undefined> {
  const { host } = call;
  const maxWaiting = call.limit("maxWaiting");
  if (host.waiting >= maxWaiting) return refuseFull(call, `${describeCalls(maxWaiting)} in line`);
  host.waiting += 1;
  const since = performance.now();
  try {
    return await wait();
  } finally {
    host.waiting -= 1;
    call.queuedMs += performance.now() - since;
  }
}

/** A failed outcome for a call that there is no room for. */
function refuseFull(call: Call, rate: string): FailedOutcome {
  return call.fail("limit-reached", { tool: call.address, rate, retryAfterMs });
}

/** Who waits with a call. */
export function waiterOf({ user = "", root }: Call): Waiting {
  return { user, priority: root.options.priority ?? 0 };
}

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
