import { KitbagError } from "../../core/errors.ts";
import { findWrongOption, isAboveZero, type Expectations } from "../find-wrong-option.ts";
import type { BreakerOptions } from "./breakers.ts";

/** How often a tool is tried again that failed and may be run again: one that is idempotent or read-only. */
export interface RetryPolicy {
  /** @default 0, unless the tool says otherwise */
  readonly times?: number;
  /** The pause before the first; it doubles each time, and varies by a half. @default 100 */
  readonly minMs?: number;
  /** @default 5000 */
  readonly maxMs?: number;
}

const retryExpectations: Expectations<RetryPolicy> = {
  times: [(value) => Number.isSafeInteger(value) && (value as number) >= 0, "a whole number from 0"],
  minMs: [isAboveZero, "a number above 0"],
  maxMs: [isAboveZero, "a number above 0"],
};

const breakerExpectations: Expectations<BreakerOptions> = {
  failures: [(value) => Number.isSafeInteger(value) && (value as number) > 0, "a whole number above 0"],
  openMs: [isAboveZero, "a number above 0"],
};

/**
 * Checks what is said of retries and breakers.
 *
 * @throws {KitbagError} `option-invalid`
 */
export function checkFailureOptions(retries: RetryPolicy, breaker: BreakerOptions): void {
  const wrong =
    findWrongOption(retries, retryExpectations, "retries") ?? findWrongOption(breaker, breakerExpectations, "breaker");
  if (wrong !== undefined) throw new KitbagError("option-invalid", wrong);
}

/** Fills in what was not said. */
export function toRetryPolicy({ times = 0, minMs = 100, maxMs = 5000 }: RetryPolicy): Required<RetryPolicy> {
  return { times, minMs, maxMs };
}
