import { KitbagError, type ErrorDetails } from "../core/errors.ts";
import { showValue } from "../core/json.ts";
import { isAboveZero, isFunction, isObject, type Expectations } from "../workspace/find-wrong-option.ts";

/** How to tell whether a value is right, and what to call a right one. */
export type Expectation = Expectations<{ readonly any: unknown }>["any"];

export const anObject: Expectation = [isObject, "an object"];
export const aFunction: Expectation = [isFunction, "a function"];
export const aText: Expectation = [(value) => typeof value === "string", "a text"];
export const aNumber: Expectation = [(value) => typeof value === "number", "a number"];
export const aboveZero: Expectation = [isAboveZero, "a number above 0"];
export const trueOrFalse: Expectation = [(value) => typeof value === "boolean", "true or false"];
export const aList: Expectation = [Array.isArray, "a list"];

/** @throws {KitbagError} `option-invalid` if something was found. */
export function refuseIf(wrong: ErrorDetails["option-invalid"] | undefined): void {
  if (wrong !== undefined) throw new KitbagError("option-invalid", wrong);
}

/** @throws {KitbagError} `option-invalid` */
export function refuse(option: string, found: unknown, expected: string): never {
  throw new KitbagError("option-invalid", { option, found: showValue(found), expected });
}
