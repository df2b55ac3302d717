import type { FailedOutcome } from "../../core/outcome.ts";
import { describeCalls } from "../rates/rate-limit.ts";
import type { Call } from "./call.ts";
import type { Waiting } from "./slots.ts";

/** Nobody knows when a call will be over: it is worth while to ask again after so long. */
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
export function refuseFull(call: Call, rate: string): FailedOutcome {
  return call.fail("limit-reached", { tool: call.address, rate, retryAfterMs });
}

/** Who waits with a call. */
export function waiterOf({ user = "", root }: Call): Waiting {
  return { user, priority: root.options.priority ?? 0 };
}
