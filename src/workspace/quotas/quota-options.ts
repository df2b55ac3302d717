import { KitbagError, type ErrorDetails } from "../../core/errors.ts";
import type { QuotaName } from "../../core/quotas.ts";
import { findWrongOption, isObject, type Expectations } from "../find-wrong-option.ts";

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
