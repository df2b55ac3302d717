import { KitbagError } from "../../core/errors.ts";
import { showValue } from "../../core/json.ts";

/** How much one program of a model may use. */
export interface CodeLimits {
  /** @default 64 MiB for JavaScript, and at least 256 MiB for Python, whose interpreter alone needs much */
  readonly memoryBytes: number;
  /** How long it may compute; waiting for tools does not count. @default 5000 */
  readonly cpuMs: number;
  /** How much of what it prints is kept, in characters. @default 32768 */
  readonly consoleBytes: number;
  /** How many tools it may call. @default 1000 */
  readonly maxCalls: number;
  /** How many of its calls may run at once; the others wait. @default 16 */
  readonly maxParallel: number;
}

const defaults: CodeLimits = {
  memoryBytes: 64 * 1024 * 1024,
  cpuMs: 5000,
  consoleBytes: 32 * 1024,
  maxCalls: 1000,
  maxParallel: 16,
};

/**
 * Fills in the limits that are not given.
 *
 * @throws {KitbagError} `option-invalid` for an unknown limit or one that is not a number above 0.
 */
export function toCodeLimits(given: Partial<CodeLimits>): CodeLimits {
  for (const [name, value] of Object.entries(given)) {
    const option = `limits.${name}`;
    if (!Object.hasOwn(defaults, name)) {
      const expected = `one of ${Object.keys(defaults).join(", ")}`;
      throw new KitbagError("option-invalid", { option, found: "an unknown limit", expected });
    }
    if (value !== undefined && !(typeof value === "number" && value > 0)) {
      throw new KitbagError("option-invalid", { option, found: showValue(value), expected: "a number above 0" });
    }
  }
  const set = Object.entries(given).filter(([, value]) => value !== undefined);
  return { ...defaults, ...Object.fromEntries(set) };
}
