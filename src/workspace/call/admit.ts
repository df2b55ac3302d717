import type { FailedOutcome, ToolOutcome } from "../../core/outcome.ts";
import { describeThrown } from "../describe-thrown.ts";
import type { Call } from "./call.ts";
import type { Next, Phase } from "./phase.ts";
import { raceStop } from "./race-stop.ts";
import type { SlotRequest, Slots } from "./slots.ts";
import { takeRate } from "./take-rate.ts";
import { refuseFull, waiterOf, waitInLine } from "./wait-in-line.ts";

/** Starts the clock and lets the call in: not too deep, not in a circle, when a place is free. */
export const admit: Phase = async (call, next) => {
  const refused = refuseNested(call);
  if (refused !== undefined) return refused;
  const request = toRequest(call);
  call.startClock();
  try {
    const tooOften = takeRate(call);
    const held = tooOften instanceof Promise ? await tooOften : tooOften;
    if (held !== undefined) return held;
    const { user, parent } = call;
    const own = user === undefined || parent !== undefined ? undefined : call.host.userPlaces.open(user);
    if (own === undefined) return await enter(call, request, next);
    try {
      return await withOwnPlace(call, own, () => enter(call, request, next));
    } finally {
      call.host.userPlaces.close(user as string);
    }
  } finally {
    call.endClock();
  }
};

/** Runs the call in a place of the workspace, and of its tool. */
async function enter(call: Call, request: SlotRequest, next: Next): Promise<ToolOutcome> {
  const { slots } = call.host;
  if (!slots.take(request)) {
    const failed = await waitForPlace(call, slots, request);
    if (failed !== undefined) return failed;
  }
  try {
    return await (call.entry.source === "skill" ? countForSkill(call, next) : next());
  } finally {
    slots.free(request);
  }
}

/** Runs the call in one of the places of its user. */
async function withOwnPlace(call: Call, own: Slots, run: () => Promise<ToolOutcome>): Promise<ToolOutcome> {
  if (!own.take(anyPlace)) {
    const failed = await waitForPlace(call, own, anyPlace);
    if (failed !== undefined) return failed;
  }
  try {
    return await run();
  } finally {
    own.free(anyPlace);
  }
}

/** Notes that a tool of a skill is running: a skill that closes waits for it, or cancels it. */
async function countForSkill(call: Call, next: Next): Promise<ToolOutcome> {
  const { entry, host } = call;
  host.inFlight.enter(entry.owner, call);
  let failed = true;
  try {
    const outcome = await next();
    failed = outcome.status === "failed";
    return outcome;
  } finally {
    host.inFlight.leave(entry.owner, call, failed);
  }
}

function refuseNested(call: Call): FailedOutcome | undefined {
  const { parent, address, depth } = call;
  if (parent === undefined) return undefined;
  const maxDepth = call.limit("maxDepth");
  if (depth > maxDepth) return call.fail("call-depth", { tool: address, chain: call.chain(), limit: maxDepth });
  const maxCycle = call.limit("maxCycle");
  if (parent.timesOf(address) < maxCycle) return undefined;
  return call.fail("call-cycle", { tool: address, chain: call.chain(), limit: maxCycle });
}

const anyPlace: SlotRequest = { isRoot: true };

function toRequest({ parent, entry, address, host }: Call): SlotRequest {
  const { maxConcurrent: max } = entry.tool.limits;
  const isRoot = parent === undefined;
  if (isRoot && max === undefined) return anyPlace;
  // A call inside a call of the same tool uses the place of the outer one; waiting for another could wait for itself.
  if (max === undefined || (!isRoot && parent.timesOf(address) > 0)) return { isRoot };
  return { isRoot, limited: { tool: address, max, isShared: host.store !== undefined } };
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
