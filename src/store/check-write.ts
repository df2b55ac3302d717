import { KitbagError } from "../core/errors.ts";
import { showValue, type JsonValue } from "../core/json.ts";
import type { WriteOptions } from "../core/store.ts";
import { checkDurable } from "./check-durable.ts";
import { checkWhole } from "./check-whole.ts";

/**
 * Checks what is said with a write of a value.
 *
 * @throws {KitbagError} `option-invalid`
 */
export function checkWrite(options: WriteOptions | undefined): CheckedWrite {
  const { expiresInMs, ifVersion, durable } = options ?? {};
  if (expiresInMs !== undefined) checkWhole("expiresInMs", expiresInMs, 1);
  if (ifVersion !== undefined) checkWhole("ifVersion", ifVersion);
  checkDurable(durable);
  return { expiresInMs, ifVersion, durable };
}

/** What may be said with a write, after it was checked. */
export type CheckedWrite = { readonly [Name in keyof WriteOptions]-?: WriteOptions[Name] | undefined };

/**
 * Checks that the version that is there, 0 for none, is the one that was expected.
 *
 * @throws {KitbagError} `store-conflict`
 */
export function checkVersion(key: string, version: number, ifVersion: number | undefined): void {
  if (ifVersion === undefined || ifVersion === version) return;
  throw new KitbagError("store-conflict", {
    where: key,
    expected: describeVersion(ifVersion),
    found: describeVersion(version),
  });
}

function describeVersion(version: number): string {
  return version === 0 ? "nothing" : `version ${version}`;
}

/**
 * Adds to a value that is there.
 *
 * @throws {KitbagError} `store-conflict` if it, or the sum, is not a safe integer.
 */
export function toSum(key: string, value: JsonValue, by: number): number {
  const sum = typeof value === "number" ? value + by : Number.NaN;
  if (Number.isSafeInteger(value) && Number.isSafeInteger(sum)) return sum;
  const found = Number.isSafeInteger(value) ? `${showValue(value)} and ${by} more` : showValue(value);
  throw new KitbagError("store-conflict", { where: key, expected: "a whole number up to 2^53 - 1", found });
}
