import { isObject } from "./find-wrong-option.ts";

/** Tells whether `value` is a promise of any make: query builders have `then` as well. */
export function isThenable(value: unknown): value is PromiseLike<unknown> {
  return isObject(value) && "then" in value && typeof value.then === "function";
}
