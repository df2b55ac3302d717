import { KitbagError } from "../../core/errors.ts";
import { quotaNames, type Account, type DailyQuota, type QuotaName, type QuotaOrigin } from "../../core/quotas.ts";
import type { KeyValueStore, Store } from "../../core/store.ts";
import { localUser } from "../../core/scopes.ts";
import { toOwnerKey, type Users } from "../users.ts";
import { charge, nextDay, readSpent, requireLeft, spend, type Spent } from "./day-counters.ts";
import { createKeptBytes, type KeptBytes, measureBytes } from "./kept-bytes.ts";
import {
  noQuotas,
  readKeptQuotas,
  type KeptQuotas,
  type QuotaTable,
  type QuotaLimits,
  type QuotaOptions,
} from "./quota-options.ts";
import { toPlaceName } from "../call/user-places.ts";
import { countPlaces } from "../rates/shared-permits.ts";

/** What users may use. */
export interface Quotas {
  /** The quotas of a user; nothing if the user has none, and for calls without a user. Looks only at what is in memory. */
  of(user: string | undefined): Account | undefined;
  /** Takes of a quota that is counted by the day. @throws {KitbagError} `quota-reached` */
  spend(account: Account, quota: DailyQuota, amount: number): Promise<Spent>;
  /** Counts what is used already, also if that is more than there is. */
  charge(account: Account, quota: DailyQuota, amount: number): Promise<void>;
  /** Makes sure that something of a quota is left. @throws {KitbagError} `quota-reached` */
  requireLeft(account: Account, quota: DailyQuota): Promise<void>;
  readonly bytes: Pick<KeptBytes, "add" | "count">;
  /**
   * Reads the quotas that were set with `kitbag quota` in the store. A program that runs on calls it every now and then: calls never
   * look.
   */
  refresh(): Promise<void>;
  /** The users for whom a quota is set by name. */
  named(): readonly string[];
  /** What holds for each user but the local one. */
  each(): QuotaLimits;
}

/** Where quotas come from. */
interface QuotaSources {
  readonly options?: QuotaOptions | undefined;
  readonly store: Pick<Store, "kv" | "blobs">;
  readonly users: Users;
}

/**
 * Makes the quotas of users: those that are given, and those that are kept in the store. What is said of one user goes before what is
 * said of each, and what was set by a command before the configuration.
 *
 * @throws {KitbagError} `option-invalid` if two names are of the same user.
 */
export function createQuotas({ options = {}, store, users }: QuotaSources): Quotas {
  const nameOf = (user: string): string => users.ownerOf(user) ?? localUser;
  const given = toTable(options, nameOf);
  const { kv } = store;
  const bytes = createKeptBytes(store);
  let kept: KeptQuotas = { ...noQuotas, version: 0 };
  let isEmpty = !hasQuotas(given);

  return {
    of: (user) => (isEmpty || user === undefined ? undefined : toAccount(nameOf(user), kept, given)),
    spend: (account, quota, amount) => spend(kv, account, quota, amount),
    charge: (account, quota, amount) => charge(kv, account, quota, amount),
    requireLeft: (account, quota) => requireLeft(kv, account, quota),
    bytes,
    async refresh() {
      const found = await readKeptQuotas(kv);
      if (found.version === kept.version) return;
      kept = found;
      isEmpty = !hasQuotas(given) && !hasQuotas(kept);
      bytes.forget();
    },
    each: () => ({ ...given.each, ...kept.each }),
    named: () => [...new Set([...given.users.keys(), ...kept.users.keys()])],
  };
}

function hasQuotas({ each, users }: QuotaTable): boolean {
  return [each, ...users.values()].some((limits) => quotaNames.some((name) => limits[name] !== undefined));
}

/** @throws {KitbagError} `option-invalid` if two names are of the same user. */
function toTable({ each = {}, users = {} }: QuotaOptions, nameOf: (user: string) => string): QuotaTable {
  const byName = new Map<string, QuotaLimits>();
  for (const [user, limits] of Object.entries(users)) {
    const name = nameOf(user);
    if (byName.has(name)) {
      const found = `the local user twice, as ${JSON.stringify(user)} too`;
      throw new KitbagError("option-invalid", { option: "quotas.users", found, expected: "each user once" });
    }
    byName.set(name, limits);
  }
  return { each, users: byName };
}

function toAccount(user: string, kept: QuotaTable, given: QuotaTable): Account | undefined {
  const layers: readonly (readonly [QuotaLimits | undefined, QuotaOrigin])[] = [
    [kept.users.get(user), { by: "command", for: "user" }],
    [given.users.get(user), { by: "configuration", for: "user" }],
    [user === localUser ? undefined : kept.each, { by: "command", for: "each" }],
    [user === localUser ? undefined : given.each, { by: "configuration", for: "each" }],
  ];
  const limits: { [Name in QuotaName]?: number } = {};
  const origins: { [Name in QuotaName]?: QuotaOrigin } = {};
  for (const name of quotaNames) {
    const found = layers.find(([layer]) => layer?.[name] !== undefined);
    const limit = found?.[0]?.[name];
    if (found === undefined || typeof limit !== "number") continue;
    limits[name] = limit;
    origins[name] = found[1];
  }
  return Object.keys(limits).length === 0 ? undefined : { user, key: toOwnerKey(user), limits, origins };
}

/** The view of the store in which the state of an owner is counted, if that user has a quota of bytes. */
export function findCountedKv(quotas: Quotas, owner: string | undefined): KeyValueStore | undefined {
  const account = quotas.of(owner ?? localUser);
  return account?.limits.bytes === undefined ? undefined : quotas.bytes.count(account);
}

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
