import type { FailedOutcome } from "../../core/outcome.ts";
import { describeThrown } from "../describe-thrown.ts";
import type { Reached, RateSubject } from "../rates/rates.ts";
import type { Call } from "./call.ts";
import { raceStop, sleepIn, type Race } from "./phase.ts";
import { waiterOf, waitInLine } from "./places.ts";

/** Counts a call for the limits it has; waits, or fails, while one of them is reached. */
export function takeRate(call: Call): FailedOutcome | undefined | Promise<FailedOutcome | undefined> {
  const { rates } = call.host;
  const subject = toSubject(call);
  if (!rates.has(subject)) return undefined;
  return waitForRate(call, subject);
}

function toSubject({ address, entry, user, parent }: Call): RateSubject {
  const skill = entry.source === "skill" ? entry.owner : undefined;
  return { tool: address, skill, user, isRoot: parent === undefined, ownRate: entry.tool.limits.rate };
}

async function waitForRate(call: Call, subject: RateSubject): Promise<FailedOutcome | undefined> {
  try {
    const reached = await call.host.rates.take(subject, false);
    if (reached === undefined) return undefined;
    if (call.root.options.onLimit === "fail" || isTooLate(call, reached)) return refuse(call, reached);
    return await waitInLine(call, () => waitForAll(call, subject, reached));
  } catch (cause) {
    return call.fail("store-failed", { reason: describeThrown(cause), ran: false });
  }
}

/** Waits for one limit after the other: a call that has to wait for another one does not hold up those that wait for the first. */
async function waitForAll(call: Call, subject: RateSubject, first: Reached): Promise<FailedOutcome | undefined> {
  let answer = await waitTurn(call, subject, first);
  while (answer !== undefined && "queue" in answer) answer = await waitTurn(call, subject, answer);
  return answer;
}

/** Waits for its turn to look whether there is room, then looks until there is; answers with the other limit that has none. */
async function waitTurn(
  call: Call,
  subject: RateSubject,
  first: Reached,
): Promise<Reached | FailedOutcome | undefined> {
  const { user, priority } = waiterOf(call);
  const place = first.queue.enter(user, priority);
  try {
    let race: Race<void> = await raceStop(call, place.turn());
    while (race.ok) {
      const still = await call.host.rates.take(subject, true);
      if (still === undefined) return undefined;
      if (isTooLate(call, still)) return refuse(call, still);
      if (!isSameQueue(still, first)) return still;
      race = await sleepIn(call, still.retryAfterMs);
      if (race.ok) race = await raceStop(call, place.turn());
    }
    if (race.failure.code !== "call-timeout") return { status: "failed", error: race.failure };
    return refuse(call, { ...first, retryAfterMs: place.retryAfterMs() });
  } finally {
    place.leave();
  }
}

/** It will not come to that: better to know it now. */
function isTooLate({ leftMs }: Call, { soonestMs }: Reached): boolean {
  return soonestMs > leftMs;
}

function isSameQueue({ queue: left }: Reached, { queue: right }: Reached): boolean {
  return left.limit === right.limit && left.name === right.name;
}

function refuse(call: Call, { limit, retryAfterMs }: Reached): FailedOutcome {
  return call.fail("limit-reached", { tool: call.address, rate: limit, retryAfterMs });
}
