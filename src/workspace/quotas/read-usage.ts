import { quotaNames, type Account, type QuotaName, type QuotaOrigin } from "../../core/quotas.ts";
import type { Store } from "../../core/store.ts";
import { toPlaceName } from "../call/user-places.ts";
import { countPlaces } from "../rates/supply.ts";
import { nextDay, readSpent } from "./day-counters.ts";
import { measureBytes } from "./kept-bytes.ts";

/** A quota of a user, and what is used of it. */
export interface UsedQuota extends QuotaOrigin {
  readonly quota: QuotaName;
  readonly limit: number;
  readonly used: number;
  /** When it is counted from 0 again, in ISO 8601; not there for what is used as long as it is there. */
  readonly startsAgain?: string;
}

/** Reads how much a user has used of each quota that they have. */
export async function readUsage(store: Store, account: Account): Promise<readonly UsedQuota[]> {
  const usage: UsedQuota[] = [];
  for (const quota of quotaNames) {
    const limit = account.limits[quota];
    const origin = account.origins[quota];
    if (limit === undefined || origin === undefined) continue;
    const isNow = quota === "concurrent" || quota === "bytes";
    const used = await readUsed(store, account, quota);
    usage.push({ quota, limit, used, ...(!isNow && { startsAgain: nextDay() }), ...origin });
  }
  return usage;
}

async function readUsed(store: Store, account: Account, quota: QuotaName): Promise<number> {
  if (quota === "bytes") return measureBytes(store, account);
  if (quota === "concurrent") return countPlaces(store.counters ?? store.kv, toPlaceName(account.key));
  return readSpent(store.kv, account, quota);
}
