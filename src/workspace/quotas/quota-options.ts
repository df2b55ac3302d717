import { KitbagError, type ErrorDetails, isKitbagError } from "../../core/errors.ts";
import { type QuotaName, quotaNames } from "../../core/quotas.ts";
import { findWrongOption, type Expectations } from "../options/find-wrong-option.ts";
import { isObject, type JsonObject, type JsonValue } from "../../core/json.ts";
import type { KeyValueStore } from "../../core/store.ts";

/** How much a user may use, by quota; `"none"` takes a quota away that other settings give. */
export type QuotaLimits = { readonly [Name in QuotaName]?: number | "none" };

/** Quotas of users. The local user has only those that are set for them by name. */
export interface QuotaOptions {
  /** For each user but the local one. @default none */
  readonly each?: QuotaLimits;
  /** For users by name, who need not be known yet: what is said here goes before `each`. @default none */
  readonly users?: Readonly<Record<string, QuotaLimits>>;
}

/** Counts stay exact far beyond these. */
const mostCount = 1e15;
const mostDollars = 1e6;
const mostConcurrent = 100_000;

const count = [isWholeUpTo(0, mostCount), `a whole number from 0 to ${mostCount}, or "none"`] as const;

const limitExpectations: Expectations<QuotaLimits> = {
  calls: count,
  concurrent: [isWholeUpTo(1, mostConcurrent), `a whole number from 1 to ${mostConcurrent}, or "none"`],
  tokens: count,
  dollars: [isDollars, `a number from 0 to ${mostDollars}, or "none"`],
  bytes: count,
  drafts: count,
};

const expectations: Expectations<QuotaOptions> = {
  each: [isObject, "an object"],
  users: [(value) => isObject(value) && !Array.isArray(value), "an object of quotas by user"],
};

function isWholeUpTo(least: number, most: number): (value: unknown) => boolean {
  return (value) =>
    value === "none" || (Number.isSafeInteger(value) && (value as number) >= least && (value as number) <= most);
}

function isDollars(value: unknown): boolean {
  return value === "none" || (typeof value === "number" && value >= 0 && value <= mostDollars);
}

/**
 * Checks quotas, as JSON and plain JavaScript can give anything.
 *
 * @throws {KitbagError} `option-invalid`
 */
export function checkQuotas(options: unknown): void {
  const wrong = findWrongOption(options, expectations, "quotas") ?? findWrongUser(options as QuotaOptions);
  if (wrong !== undefined) throw new KitbagError("option-invalid", wrong);
}

function findWrongUser({ each = {}, users = {} }: QuotaOptions): ErrorDetails["option-invalid"] | undefined {
  if (Object.hasOwn(users, "")) return { option: "quotas.users", found: 'the name ""', expected: "names of users" };
  const wrong = Object.entries(users).map(([user, limits]) => findWrongLimit(limits, `quotas.users.${user}`));
  return findWrongLimit(each, "quotas.each") ?? wrong.find((one) => one !== undefined);
}

/** Finds what is wrong with the quotas of one user, called `name`. */
export function findWrongLimit(limits: unknown, name: string): ErrorDetails["option-invalid"] | undefined {
  return findWrongOption(limits, limitExpectations, name);
}

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
