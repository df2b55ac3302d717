import type { FailedOutcome, ToolOutcome } from "../../core/outcome.ts";
import type { Call } from "./call.ts";
import type { Next, Phase } from "./phase.ts";
import { refuseUnpaid } from "./paid-call.ts";
import { anyPlace, type SlotRequest } from "./slots.ts";
import { countCall, withQuotaPlace, withPlace } from "./places.ts";
import { takeRate } from "./take-rate.ts";

/** Starts the clock and lets the call in: not too deep, not in a circle, when a place is free. */
export const admit: Phase = async (call, next) => {
  const isPaid = call.host.paidTools.has(call.entry.tool);
  const refused = refuseNested(call) ?? (isPaid ? await refuseUnpaid(call) : undefined);
  if (refused !== undefined) return refused;
  const request = toRequest(call);
  call.startClock();
  try {
    const tooOften = takeRate(call);
    const held = tooOften instanceof Promise ? await tooOften : tooOften;
    if (held !== undefined) return held;
    const account = call.parent === undefined ? call.host.quotas.of(call.user) : undefined;
    if (account === undefined) return await enterAsUser(call, request, next);
    return await withQuotaPlace(call, account, () => enterAsUser(call, request, () => countCall(call, account, next)));
  } finally {
    call.endClock();
  }
};

/** Runs the call in a place of its user in this process, if users have only so many, and in one of the workspace. */
function enterAsUser(call: Call, request: SlotRequest, next: Next): Promise<ToolOutcome> {
  const { user, parent } = call;
  const own = user === undefined || parent !== undefined ? undefined : call.host.userPlaces.open(user);
  if (own === undefined) return enter(call, request, next);
  return withPlace(call, own.slots, anyPlace, () => enter(call, request, next)).finally(own.close);
}

/** Runs the call in a place of the workspace, and of its tool. */
function enter(call: Call, request: SlotRequest, next: Next): Promise<ToolOutcome> {
  const run = call.entry.source === "skill" ? (): Promise<ToolOutcome> => countForSkill(call, next) : next;
  return withPlace(call, call.host.slots, request, run);
}

/** Notes that a tool of a skill is running: a skill that closes waits for it, or cancels it. */
async function countForSkill(call: Call, next: Next): Promise<ToolOutcome> {
  const { entry, host } = call;
  host.runningCalls.enter(entry.owner, call);
  let failed = true;
  try {
    const outcome = await next();
    failed = outcome.status === "failed";
    return outcome;
  } finally {
    host.runningCalls.leave(entry.owner, call, failed);
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

function toRequest({ parent, entry, address, host }: Call): SlotRequest {
  const { maxConcurrent: max } = entry.tool.limits;
  const isRoot = parent === undefined;
  if (isRoot && max === undefined) return anyPlace;
  // A call inside a call of the same tool uses the place of the outer one; waiting for another could wait for itself.
  if (max === undefined || (!isRoot && parent.timesOf(address) > 0)) return { isRoot };
  return { isRoot, limited: { tool: address, max, isShared: host.store !== undefined } };
}
