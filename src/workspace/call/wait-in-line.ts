import type { FailedOutcome } from "../../core/outcome.ts";
import type { Call } from "./call.ts";
import type { Waiting } from "./slots.ts";

/** When so many wait that one more is refused, it is worth while to ask again after so long. */
const retryAfterMs = 1000;

/** Lets a call wait, unless too many do already. */
export async function waitInLine(
  call: Call,
  wait: () => Promise<FailedOutcome | undefined>,
): Promise<FailedOutcome | undefined> {
  const { host, address } = call;
  const maxWaiting = call.limit("maxWaiting");
  if (host.waiting >= maxWaiting) {
    return call.fail("limit-reached", { tool: address, rate: `${maxWaiting} calls that wait`, retryAfterMs });
  }
  host.waiting += 1;
  const since = performance.now();
  try {
    return await wait();
  } finally {
    host.waiting -= 1;
    call.queuedMs += performance.now() - since;
  }
}

/** Who waits with a call. */
export function waiterOf({ user = "", root }: Call): Waiting {
  return { user, priority: root.options.priority ?? 0 };
}
