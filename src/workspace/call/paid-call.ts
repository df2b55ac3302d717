import { isKitbagError } from "../../core/errors.ts";
import type { FailedOutcome } from "../../core/outcome.ts";
import type { Account } from "../../core/quotas.ts";
import { describeThrown } from "../describe-thrown.ts";
import type { Quotas } from "../quotas/quotas.ts";
import type { Call } from "./call.ts";

/** Refuses a call of a tool that costs money if its user has used up the dollars of the day. */
export async function refuseUnpaid(call: Call): Promise<FailedOutcome | undefined> {
  try {
    for (const [quotas, account] of payersOf(call)) await quotas.requireLeft(account, "dollars");
    return undefined;
  } catch (cause) {
    if (isKitbagError(cause, "quota-reached")) return call.fail(cause.code, cause.details);
    return call.fail("store-failed", { reason: describeThrown(cause), ran: false });
  }
}

/** Counts what a call paid towards the dollars of its user. Never rejects: what is done is not lost because the store failed. */
export async function chargeCost(call: Call): Promise<void> {
  const { costUsd } = call;
  await Promise.allSettled(payersOf(call).map(([quotas, account]) => quotas.charge(account, "dollars", costUsd)));
}

/** The user's account in each workspace that the call and those around it are made in, where the user has a quota in dollars. */
function payersOf(call: Call): readonly (readonly [Quotas, Account])[] {
  const all = new Set<Quotas>();
  for (let around: Call | undefined = call; around !== undefined; around = around.parent) all.add(around.host.quotas);
  return [...all].flatMap((quotas) => {
    const account = quotas.of(call.user);
    return account?.limits.dollars === undefined ? [] : [[quotas, account] as const];
  });
}
