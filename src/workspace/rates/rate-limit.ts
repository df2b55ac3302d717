import { KitbagError } from "../../core/errors.ts";
import type { ToolRate } from "../../core/tool.ts";
import { findWrongOption, type Expectations } from "../options/find-wrong-option.ts";

/** A rate that holds for each of something, or for one of them. */
export interface RateLimit extends ToolRate {
  /**
   * What it is counted for. Calls that tools make count for tools and skills; for users and for the whole workspace only those
   * from outside do.
   */
  readonly per: "tool" | "skill" | "user" | "workspace";
  /** Only the tool of this address, this skill or this user. @default each of them, by itself */
  readonly of?: string;
}

const rateExpectations: Expectations<ToolRate> = {
  calls: [isCount, "a whole number above 0"],
  inMs: [isCount, "a whole number above 0"],
  burst: [isCount, "a whole number above 0"],
};

const expectations: Expectations<RateLimit> = {
  ...rateExpectations,
  per: [(value) => ["tool", "skill", "user", "workspace"].includes(value as string), "tool, skill, user or workspace"],
  of: [(value) => typeof value === "string", "a text"],
};

/**
 * Checks the rates of a workspace.
 *
 * @throws {KitbagError} `option-invalid`
 */
export function checkRates(rates: readonly RateLimit[]): void {
  for (const [index, rate] of rates.entries()) {
    const name = `rates[${index}]`;
    const wrong = findWrongOption(rate, expectations, name) ?? findMissing(name, rate);
    if (wrong !== undefined) throw new KitbagError("option-invalid", wrong);
  }
}

function findMissing(name: string, rate: RateLimit): KitbagError<"option-invalid">["details"] | undefined {
  const missing = (["per", "calls", "inMs"] as const).find((part) => rate[part] === undefined);
  return missing && { option: `${name}.${missing}`, found: "nothing", expected: expectations[missing][1] };
}

function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) > 0;
}

/** Says in words what a limit is: `100 calls in 1 min per user`. */
export function describeRate({ calls, inMs, per, of }: RateLimit): string {
  const subject = of === undefined ? `per ${per}` : `for the ${per} ${of}`;
  return `${describeCalls(calls)} in ${describeTime(inMs)}${per === "workspace" ? "" : ` ${subject}`}`;
}

/** Says in words how many calls: `1 call`. */
export function describeCalls(count: number): string {
  return `${count} ${count === 1 ? "call" : "calls"}`;
}

/** Says in words how long a time is: `10 min`. */
export function describeTime(ms: number): string {
  const [unit, name] = units.find(([length]) => ms % length === 0) ?? [1, "ms"];
  return `${ms / unit} ${name}`;
}

const units: readonly (readonly [length: number, name: string])[] = [
  [86_400_000, "d"],
  [3_600_000, "h"],
  [60_000, "min"],
  [1000, "s"],
];
