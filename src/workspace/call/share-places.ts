import type { FailedOutcome, ToolOutcome } from "../../core/outcome.ts";
import { describeThrown } from "../describe-thrown.ts";
import { describeCalls } from "../rates/rate-limit.ts";
import type { SharedLimit, SharedPlace } from "../rates/shared-places.ts";
import type { Call } from "./call.ts";
import type { Next } from "./phase.ts";
import { raceStop } from "./race-stop.ts";
import type { SlotRequest } from "./slots.ts";
import { refuseFull, waitInLine } from "./wait-in-line.ts";

/** A limit that is counted together with other processes, and what to call it. */
interface Together extends SharedLimit {
  readonly words: string;
}

/** The limits of a call that are counted together with other processes: most have none. */
export function sharedLimitsOf({ host }: Call, { isRoot, limited }: SlotRequest): readonly Together[] {
  const { maxTogether } = host.limits;
  const ofTool = host.store === undefined ? undefined : limited;
  const isCounted = isRoot && maxTogether < Number.POSITIVE_INFINITY;
  if (ofTool === undefined && !isCounted) return none;
  return [
    ...(isCounted ? [{ name: "workspace", max: maxTogether, words: `${describeCalls(maxTogether)} at once` }] : []),
    ...(ofTool === undefined ? [] : [toToolLimit(ofTool)]),
  ];
}

const none: readonly Together[] = [];

function toToolLimit({ tool, max }: NonNullable<SlotRequest["limited"]>): Together {
  return { name: `tool:${tool}`, max, words: `${describeCalls(max)} at once per tool` };
}

/** Runs `work` when there is a place for it in each of the limits. */
export async function runInPlaces(call: Call, limits: readonly Together[], work: Next): Promise<ToolOutcome> {
  const taken: SharedPlace[] = [];
  try {
    for (const limit of limits) {
      const place = await takePlace(call, limit);
      if ("status" in place) return place;
      taken.push(place);
    }
    return await work();
  } finally {
    await Promise.all(taken.map((place) => place.free()));
  }
}

async function takePlace(call: Call, limit: Together): Promise<SharedPlace | FailedOutcome> {
  const { places } = call.host;
  try {
    const place = await places.take(limit);
    if (place !== undefined) return place;
    if (call.root.options.onLimit === "fail") return refuseFull(call, limit.words);
    return await waitForPlace(call, limit);
  } catch (cause) {
    return call.fail("store-failed", { reason: describeThrown(cause), ran: false });
  }
}

async function waitForPlace(call: Call, limit: Together): Promise<SharedPlace | FailedOutcome> {
  let place: SharedPlace | undefined;
  const failed = await waitInLine(call, async () => {
    const { promise, leave } = call.host.places.wait(limit);
    const entered = await raceStop(call, promise);
    if (entered.ok) {
      place = entered.value;
      return undefined;
    }
    leave();
    // It never ran: it was the others who took too long.
    if (entered.failure.code === "call-timeout") return refuseFull(call, limit.words);
    return { status: "failed", error: entered.failure };
  });
  return failed ?? (place as SharedPlace);
}
