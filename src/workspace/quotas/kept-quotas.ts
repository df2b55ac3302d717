import { isKitbagError } from "../../core/errors.ts";
import type { JsonObject, JsonValue } from "../../core/json.ts";
import { quotaNames } from "../../core/quotas.ts";
import type { KeyValueStore } from "../../core/store.ts";
import type { QuotaLimits } from "./quota-options.ts";

/** Quotas by user, and those of each user. */
export interface QuotaTable {
  readonly each: QuotaLimits;
  readonly users: ReadonlyMap<string, QuotaLimits>;
}

/** Quotas that say nothing. */
export const noQuotas: QuotaTable = { each: {}, users: new Map() };

const key = "quotas";

/** Quotas that were set by a command, and which write they are of. */
export interface KeptQuotas extends QuotaTable {
  readonly version: number;
}

/** Reads the quotas that were set by a command. */
export async function readKeptQuotas(kv: KeyValueStore): Promise<KeptQuotas> {
  const found = await kv.get(key);
  if (found === undefined) return { ...noQuotas, version: 0 };
  const { each, users } = found.value as unknown as KeptValue;
  return { each, users: new Map(users.map(({ user, limits }) => [user, limits])), version: found.version };
}

interface KeptValue {
  readonly each: QuotaLimits;
  /** A list, since a name may be anything, and a key of an object may not. */
  readonly users: readonly { readonly user: string; readonly limits: QuotaLimits }[];
}

/**
 * Changes the quotas of one user, or of each, in the store: those with a value are set, those without are cleared. Others may do so at
 * the same time.
 */
export async function changeKeptQuotas(
  kv: KeyValueStore,
  user: string | undefined,
  change: (limits: QuotaLimits) => QuotaLimits,
): Promise<void> {
  for (;;) {
    const { each, users, version } = await readKeptQuotas(kv);
    const changed = new Map(users);
    if (user !== undefined) changed.set(user, change(users.get(user) ?? {}));
    const named = [...changed].filter(([, limits]) => quotaNames.some((name) => limits[name] !== undefined));
    const value = {
      each: (user === undefined ? change(each) : each) as JsonObject,
      users: named.map(([name, limits]): JsonValue => ({ user: name, limits: limits as JsonObject })),
    };
    try {
      await kv.set(key, value, { ifVersion: version });
      return;
    } catch (cause) {
      // Another program has changed them: look again.
      if (!isKitbagError(cause, "store-conflict")) throw cause;
    }
  }
}
