import { KitbagError } from "../core/errors.ts";
import { showValue } from "../core/json.ts";
import type { ClaimOptions, Job, JobOptions } from "../core/store.ts";
import { checkKey } from "./check-key.ts";
import { checkWhole } from "./check-whole.ts";

const maxPriority = 1_000_000;

/**
 * Checks what is said of a job, and fills in what was not said.
 *
 * @throws {KitbagError} `store-key-invalid` or `option-invalid`
 */
export function checkAdd(id: string, options: JobOptions | undefined): Required<JobOptions> {
  const { priority = 0, delayMs = 0 } = options ?? {};
  checkKey(id);
  checkWhole("delayMs", delayMs);
  if (Number.isSafeInteger(priority) && Math.abs(priority) <= maxPriority) return { priority, delayMs };
  throw new KitbagError("option-invalid", {
    option: "priority",
    found: showValue(priority),
    expected: `a whole number from -${maxPriority} to ${maxPriority}`,
  });
}

/**
 * Checks how jobs are claimed.
 *
 * @throws {KitbagError} `option-invalid`
 */
export function checkClaim(options: ClaimOptions): Required<ClaimOptions> {
  const { leaseMs, limit = 1 } = options ?? {};
  checkWhole("leaseMs", leaseMs, 1);
  checkWhole("limit", limit);
  return { leaseMs, limit };
}

/**
 * Checks a job that somebody says they have.
 *
 * @throws {KitbagError} `store-key-invalid` or `option-invalid`
 */
export function checkJob(job: Job): Job {
  const { id, attempt } = job ?? {};
  checkKey(id);
  checkWhole("attempt", attempt, 1);
  return { id, attempt };
}
