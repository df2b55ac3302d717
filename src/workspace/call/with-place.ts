import type { FailedOutcome, ToolOutcome } from "../../core/outcome.ts";
import { describeThrown } from "../describe-thrown.ts";
import type { Call } from "./call.ts";
import type { Next } from "./phase.ts";
import { raceStop } from "./race-stop.ts";
import type { SlotRequest, Slots } from "./slots.ts";
import { refuseFull, waiterOf, waitInLine } from "./wait-in-line.ts";

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
