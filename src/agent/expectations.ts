import { KitbagError, type ErrorDetails } from "../core/errors.ts";
import { isObject, showValue } from "../core/json.ts";
import { isAboveZero, isFunction, type Expectations } from "../workspace/options/find-wrong-option.ts";

/** How to tell whether a value is right, and what to call a right one. */
export type Expectation = Expectations<{ readonly any: unknown }>["any"];

/** Anything with properties. */
export const anObject: Expectation = [isObject, "an object"];
/** Anything that can be called. */
export const aFunction: Expectation = [isFunction, "a function"];
/** Any text. */
export const aText: Expectation = [(value) => typeof value === "string", "a text"];
/** Any number. */
export const aNumber: Expectation = [(value) => typeof value === "number", "a number"];
/** A number above 0; infinity is one. */
export const aboveZero: Expectation = [isAboveZero, "a number above 0"];
/** One of the two. */
export const trueOrFalse: Expectation = [(value) => typeof value === "boolean", "true or false"];
/** A list of anything. */
export const aList: Expectation = [Array.isArray, "a list"];
/** A model, or the text that names one. */
export const aModel: Expectation = [
  (value) => typeof value === "string" || (isObject(value) && "doStream" in value && isFunction(value.doStream)),
  "a model, or the name of one",
];

/** @throws {KitbagError} `option-invalid` if something was found. */
export function refuseIf(wrong: ErrorDetails["option-invalid"] | undefined): void {
  if (wrong !== undefined) throw new KitbagError("option-invalid", wrong);
}

/** @throws {KitbagError} `option-invalid` */
export function refuse(option: string, found: unknown, expected: string): never {
  refuseFound(option, showValue(found), expected);
}

/** The same, for what was found in words. @throws {KitbagError} `option-invalid` */
export function refuseFound(option: string, found: string, expected: string): never {
  throw new KitbagError("option-invalid", { option, found, expected });
}
