import type { Failure } from "../../core/errors.ts";
import type { FailedOutcome } from "../../core/outcome.ts";
import type { Call } from "./call.ts";

/** A failed outcome if the tool of `call` is gone or broken, or its skill or its session is closed. */
export function refuseUnavailable(call: Call): FailedOutcome | undefined {
  const { found, host, address, holder } = call;
  const { entry, partOf = entry } = found;
  const { registry } = host;
  if (holder.isClosed) return call.fail("session-closed", { action: `call ${address}` });
  if (found.refuse !== undefined) return toOutcome(found.refuse());
  if (!registry.has(partOf)) return call.fail("tool-not-found", registry.notFound(address));
  const brokenUntil = registry.brokenUntil(entry);
  if (brokenUntil !== undefined) {
    return call.fail("tool-broken", { tool: address, retryAfterMs: Math.max(0, brokenUntil - performance.now()) });
  }
  if (registry.isAvailableTo(holder, entry)) return undefined;
  return call.fail("tool-unavailable", { tool: address, owner: entry.owner });
}

function toOutcome(error: Failure | undefined): FailedOutcome | undefined {
  return error === undefined ? undefined : { status: "failed", error };
}
