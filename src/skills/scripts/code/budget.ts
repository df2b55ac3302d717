/**
 * How much work reading one script may be. Steps are counted, not milliseconds: so the same text is read in the same way on a slow
 * and on a fast machine, and what was found can be remembered. Ordinary scripts of 1 MiB take less than 3,000,000.
 */
export const mostSteps = 10_000_000;

/** Reading is never interrupted by other work, so there is one budget at a time. */
let stepsLeft = Number.POSITIVE_INFINITY;

/** That reading was ended because its budget was spent. */
export class BudgetSpent extends Error {}

/** Reads within a budget. Throws {@link BudgetSpent} as soon as it is spent. */
export function withinBudget<Result>(steps: number, read: () => Result): Result {
  stepsLeft = steps;
  try {
    return read();
  } finally {
    stepsLeft = Number.POSITIVE_INFINITY;
  }
}

/** Counts a step: a look at one token, or as much. */
export function countStep(): void {
  if ((stepsLeft -= 1) < 0) throw new BudgetSpent("its text takes too long to read");
}
