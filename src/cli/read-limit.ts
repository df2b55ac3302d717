import { usageError } from "./usage-error.ts";

/**
 * Reads `--limit`.
 *
 * @throws {KitbagError} `usage-invalid` if it is no number.
 */
export function readLimit(text = "20"): number {
  const limit = /^\d{1,6}$/u.test(text) ? Number(text) : 0;
  if (limit >= 1) return limit;
  throw usageError(`Cannot use --limit ${text}: expected a whole number from 1 to 999999`);
}
