import { KitbagError } from "../../core/errors.ts";
import type { Account, DailyQuota } from "../../core/quotas.ts";
import type { KeyValueStore } from "../../core/store.ts";

const dayMs = 86_400_000;

/** How many days are kept besides today. */
const keptDays = 8;

/** What was taken of a quota. */
export interface Spent {
  /** Says how much it was in the end, on the day that it began. */
  settle(amount: number): Promise<void>;
}

/**
 * Takes `amount` of what a user may use in a day. What is taken counts before it is used, so that all processes together take no more
 * than there is; what is used in the end may be more.
 *
 * Each day has a counter of its own that does not expire: a clock that goes back finds the counter of that day again, and one that goes
 * forward leaves the others as they are.
 *
 * @throws {KitbagError} `quota-reached`
 */
export async function spend(kv: KeyValueStore, account: Account, quota: DailyQuota, amount: number): Promise<Spent> {
  const limit = account.limits[quota] as number;
  const day = toDay(Date.now());
  const add = (units: number): Promise<number> => addTo(kv, account, { quota, day, units });
  const units = toUnits(quota, amount);
  const sum = await add(units);
  if (sum > toUnits(quota, limit)) {
    const left = await add(-units);
    const details = { user: account.user, quota, limit, used: fromUnits(quota, left) };
    throw new KitbagError("quota-reached", { ...details, startsAgain: nextDay() });
  }
  return {
    async settle(actual) {
      await add(toUnits(quota, actual) - units);
    },
  };
}

/** Counts what is used already, also if that is more than there is. */
export async function charge(kv: KeyValueStore, account: Account, quota: DailyQuota, amount: number): Promise<void> {
  await addTo(kv, account, { quota, day: toDay(Date.now()), units: toUnits(quota, amount) });
}

/** Makes sure that something of a quota is left. @throws {KitbagError} `quota-reached` */
export async function requireLeft(kv: KeyValueStore, account: Account, quota: DailyQuota): Promise<void> {
  const limit = account.limits[quota] as number;
  const used = await readSpent(kv, account, quota);
  if (used < limit) return;
  throw new KitbagError("quota-reached", { user: account.user, quota, limit, used, startsAgain: nextDay() });
}

/** How much a user has used today. */
export async function readSpent(kv: KeyValueStore, account: Account, quota: DailyQuota): Promise<number> {
  const found = await kv.get(toKey(account, quota, toDay(Date.now())));
  return fromUnits(quota, Number(found?.value ?? 0));
}

/** When daily quotas start again: the next midnight, in UTC. */
export function nextDay(): string {
  return new Date((Math.floor(Date.now() / dayMs) + 1) * dayMs).toISOString().replace(".000Z", "Z");
}

const userPrefix = "quota-user:";

/** The users of whom anything was counted, by the names that they have. */
export async function listCounted(kv: KeyValueStore): Promise<readonly string[]> {
  const names: string[] = [];
  const page = 1000;
  for (let after = "", length = page; length === page;) {
    const entries = await kv.list({ prefix: userPrefix, after, limit: page });
    names.push(...entries.map(([, { value }]) => value as string));
    after = entries.at(-1)?.[0] ?? after;
    length = entries.length;
  }
  return names;
}

interface Addition {
  readonly quota: DailyQuota;
  readonly day: string;
  readonly units: number;
}

async function addTo(kv: KeyValueStore, account: Account, { quota, day, units }: Addition): Promise<number> {
  const key = toKey(account, quota, day);
  // A lost call or draft after a loss of power is of no interest; what was paid is.
  const sum = await kv.increment(key, units, { durable: quota === "tokens" || quota === "dollars" });
  if (sum === units && units > 0) await beginDay(kv, account, key);
  return sum;
}

/** Notes the name of the user, and deletes the counters of days long ago, but never that of today. */
async function beginDay(kv: KeyValueStore, { key: owner, user }: Account, today: string): Promise<void> {
  await kv.set(userPrefix + owner, user.toWellFormed(), { durable: false });
  const entries = await kv.list({ prefix: today.slice(0, today.lastIndexOf(":") + 1) });
  const others = entries.map(([key]) => key).filter((key) => key !== today);
  for (const key of others.slice(0, -keptDays)) await kv.delete(key, { durable: false });
}

function toKey({ key }: Account, quota: DailyQuota, day: string): string {
  return `quota-used:${key}:${quota}:${day}`;
}

/** In the order of time: `2026-11-18`. */
function toDay(now: number): string {
  return new Date(now).toISOString().slice(0, 10);
}

/** Counters are whole numbers: those of dollars count billionths. */
const billion = 1e9;

function toUnits(quota: DailyQuota, amount: number): number {
  return quota === "dollars" ? Math.round(amount * billion) : Math.round(amount);
}

function fromUnits(quota: DailyQuota, units: number): number {
  return quota === "dollars" ? units / billion : units;
}
