import { toFailure } from "../../core/errors.ts";
import { showValue } from "../../core/json.ts";
import type { FailedOutcome } from "../../core/outcome.ts";
import type { CallOptions } from "./call-options.ts";

const isText = (value: unknown): boolean => typeof value === "string";
const isFunction = (value: unknown): boolean => typeof value === "function";
const isAboveZero = (value: unknown): boolean => typeof value === "number" && value > 0;

const expectations: { readonly [Name in keyof Required<CallOptions>]: readonly [(value: unknown) => boolean, string] } =
  {
    signal: [(value) => value instanceof AbortSignal, "an AbortSignal"],
    limitMs: [isAboveZero, "a number above 0"],
    maxOutputBytes: [isAboveZero, "a number above 0"],
    maxCalls: [(value) => typeof value === "number" && value >= 0, "a number from 0"],
    injected: [(value) => typeof value === "object" && value !== null, "an object"],
    approve: [isFunction, "a function"],
    user: [isText, "a text"],
    from: [isText, "a text"],
    onEvent: [isFunction, "a function"],
  };

/** A failed outcome if an option of a call is unknown or wrong, as plain JavaScript can give anything. */
export function refuseOptions(options: CallOptions): FailedOutcome | undefined {
  if (typeof options !== "object" || options === null) return refuse("options", showValue(options), "an object");
  for (const option in options) {
    const value = options[option as keyof CallOptions];
    if (value === undefined) continue;
    if (!Object.hasOwn(expectations, option)) {
      return refuse(option, "an unknown option", `one of ${Object.keys(expectations).join(", ")}`);
    }
    const [isRight, expected] = expectations[option as keyof CallOptions];
    if (!isRight(value)) return refuse(option, `a ${typeof value} that is not one`, expected);
  }
  return undefined;
}

function refuse(option: string, found: string, expected: string): FailedOutcome {
  return { status: "failed", error: toFailure("option-invalid", { option, found, expected }) };
}
