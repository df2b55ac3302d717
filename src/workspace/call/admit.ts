import type { FailedOutcome, ToolOutcome } from "../../core/outcome.ts";
import type { Call } from "./call.ts";
import type { Phase } from "./phase.ts";
import { raceStop } from "./race-stop.ts";
import type { SlotRequest } from "./slots.ts";

/** Starts the clock and lets the call in: not too deep, not in a circle, within its budget, when a place is free. */
export const admit: Phase = async (call, next) => {
  const { tool } = call;
  if (tool === undefined) return next();
  const refused = refuseNested(call) ?? spendBudget(call);
  if (refused !== undefined) return refused;
  call.limitMs = call.options.limitMs ?? tool.limits.limitMs ?? call.limit("limitMs");
  call.deadlineAt = performance.now() + call.limitMs;
  const request = toRequest(call);
  const { slots } = call.host;
  if (!slots.take(request)) {
    const failed = await waitForPlace(call, request);
    if (failed !== undefined) return failed;
  }
  try {
    return await countForSkill(call, next);
  } finally {
    slots.free(request);
  }
};

/** Notes that a tool of a skill is running: a skill that closes waits for it, or cancels it. */
async function countForSkill(call: Call, next: () => Promise<ToolOutcome>): Promise<ToolOutcome> {
  const { entry, host } = call;
  if (entry?.source !== "skill") return next();
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
  const { parent } = call;
  if (parent === undefined) return undefined;
  const maxDepth = call.limit("maxDepth");
  if (call.depth > maxDepth) {
    return call.fail("call-depth", { tool: call.address, chain: call.chain(), limit: maxDepth });
  }
  const maxCycle = call.limit("maxCycle");
  let times = 0;
  for (let outer: Call | undefined = parent; outer !== undefined; outer = outer.parent) {
    if (outer.address === call.address) times += 1;
  }
  return times < maxCycle
    ? undefined
    : call.fail("call-cycle", { tool: call.address, chain: call.chain(), limit: maxCycle });
}

function spendBudget(call: Call): FailedOutcome | undefined {
  const { root } = call;
  if (call === root) return undefined;
  const limit = root.options.maxCalls ?? call.limit("maxCalls");
  if (root.callsMade >= limit) return call.fail("budget-spent", { tool: call.address, limit });
  root.callsMade += 1;
  return undefined;
}

function toRequest(call: Call): SlotRequest {
  const maxForKey = call.tool?.limits.maxConcurrent ?? Number.POSITIVE_INFINITY;
  // A call inside a call uses the place of the outer one; waiting for another could wait for itself.
  return {
    key: call.address,
    maxForKey: isInsideItself(call) ? Number.POSITIVE_INFINITY : maxForKey,
    counted: call.depth === 0,
  };
}

function isInsideItself(call: Call): boolean {
  for (let outer = call.parent; outer !== undefined; outer = outer.parent) {
    if (outer.address === call.address) return true;
  }
  return false;
}

async function waitForPlace(call: Call, request: SlotRequest): Promise<FailedOutcome | undefined> {
  const { promise, leave } = call.host.slots.wait(request);
  const entered = await raceStop(call, promise);
  if (entered.ok) return undefined;
  // The place may have come at the moment the clock ran out; somebody else can have it.
  if (!leave()) call.host.slots.free(request);
  return { status: "failed", error: entered.failure };
}
