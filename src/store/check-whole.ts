import { KitbagError } from "../core/errors.ts";
import { showValue } from "../core/json.ts";

/**
 * Checks an argument that is a whole number of at least `least`.
 *
 * @throws {KitbagError} `option-invalid` if it is anything else.
 */
export function checkWhole(option: string, value: number, least = 0): void {
  if (Number.isSafeInteger(value) && value >= least) return;
  throw new KitbagError("option-invalid", {
    option,
    found: showValue(value),
    expected: `a whole number from ${least}`,
  });
}
