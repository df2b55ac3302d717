import { quote, type ErrorDetails } from "../../core/errors.ts";
import { isObject, showValue } from "../../core/json.ts";
import { nearestNames } from "../../core/nearest.ts";
import { guardPlaces, type Guard, type GuardPlace } from "../../core/guards.ts";

/** For each option: how to tell whether a value is right, and what to call a right one. */
export type Expectations<Options> = {
  readonly [Name in keyof Required<Options>]: readonly [isRight: (value: unknown) => boolean, expected: string];
};

/**
 * Finds the first option that is unknown or wrong, as plain JavaScript can give anything. `name` is what the options themselves
 * are called. A value is never shown: it may be a secret.
 */
export function findWrongOption<Options>(
  options: unknown,
  expectations: Expectations<Options>,
  name = "options",
): ErrorDetails["option-invalid"] | undefined {
  if (!isObject(options)) return { option: name, found: showValue(options), expected: "an object" };
  for (const [key, value] of Object.entries(options)) {
    const option = name === "options" ? key : `${name}.${key}`;
    if (!Object.hasOwn(expectations, key)) {
      return { option, found: "an unknown option", expected: nearestOption(key, Object.keys(expectations)) };
    }
    const [isRight, expected] = expectations[key as keyof Options];
    if (value !== undefined && !isRight(value)) return { option, found: describeKind(value), expected };
  }
  return undefined;
}

/** Tells whether `value` can be called. */
export function isFunction(value: unknown): boolean {
  return typeof value === "function";
}

/** Tells whether `value` is a number above 0; infinity is one. */
export function isAboveZero(value: unknown): boolean {
  return typeof value === "number" && value > 0;
}

function nearestOption(key: string, known: readonly string[]): string {
  const [nearest] = nearestNames(key, known, 1);
  return nearest === undefined ? `one of ${known.join(", ")}` : quote(nearest);
}

/** Numbers are no secrets, and a wrong one is worth showing. */
function describeKind(value: unknown): string {
  if (value === null || typeof value === "number" || typeof value === "boolean") return String(value);
  if (value instanceof Promise) return "a promise that was not awaited";
  return typeof value === "object" ? "an object that is not one" : `a ${typeof value} that is not one`;
}

/** What the option `guards` must be, for a workspace and for an agent. */
export const guardsExpectation: readonly [(value: unknown) => boolean, string] = [
  (value) => Array.isArray(value) && value.every(isGuard),
  "a list of guards, each with a name, a check and the places it looks at",
];

function isGuard(guard: unknown): boolean {
  if (!isObject(guard)) return false;
  const { name, at = guardPlaces, check } = guard as Partial<Guard>;
  return (
    typeof name === "string" &&
    isFunction(check) &&
    Array.isArray(at) &&
    at.every((place) => guardPlaces.includes(place as GuardPlace))
  );
}
