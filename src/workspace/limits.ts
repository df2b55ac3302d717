import { KitbagError } from "../core/errors.ts";
import { showValue } from "../core/json.ts";
import { nearestNames } from "../core/nearest.ts";
import type { WorkspaceLimits } from "./workspace.ts";

const defaults: WorkspaceLimits = {
  limitMs: 30_000,
  maxConcurrent: 1000,
  maxDepth: 16,
  maxCycle: 3,
  maxCalls: 1000,
  maxInputBytes: 16 * 1024 * 1024,
  maxOutputBytes: 1024 * 1024,
  maxKeptBytes: 64 * 1024 * 1024,
};

/**
 * Fills in the limits that are not given.
 *
 * @throws {KitbagError} `option-invalid` for an unknown limit or one that is not a number above 0.
 */
export function toLimits(given: Partial<WorkspaceLimits>): WorkspaceLimits {
  for (const [name, value] of Object.entries(given)) {
    if (!Object.hasOwn(defaults, name)) {
      const known = Object.keys(defaults);
      const [nearest] = nearestNames(name, known, 1);
      const expected = nearest === undefined ? `one of ${known.join(", ")}` : `"${nearest}"`;
      throw new KitbagError("option-invalid", { option: `limits.${name}`, found: "an unknown limit", expected });
    }
    if (value !== undefined && !(typeof value === "number" && value > 0)) {
      throw new KitbagError("option-invalid", {
        option: `limits.${name}`,
        found: showValue(value),
        expected: "a number above 0",
      });
    }
  }
  const set = Object.entries(given).filter(([, value]) => value !== undefined);
  return { ...defaults, ...Object.fromEntries(set) };
}
