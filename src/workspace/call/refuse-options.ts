import { toFailure, type Failure } from "../../core/errors.ts";
import { findWrongOption, isAboveZero, isFunction, isObject, type Expectations } from "../find-wrong-option.ts";
import type { CallOptions } from "./call-options.ts";

const expectations: Expectations<CallOptions> = {
  signal: [(value) => value instanceof AbortSignal, "an AbortSignal"],
  limitMs: [isAboveZero, "a number above 0"],
  maxOutputBytes: [isAboveZero, "a number above 0"],
  maxCalls: [(value) => value === 0 || isAboveZero(value), "a number from 0"],
  injected: [isObject, "an object"],
  approve: [isFunction, "a function"],
  approveIfNobody: [isFunction, "a function"],
  scopes: [(value) => value === "all" || value instanceof Set, 'a Set of scopes, or "all"'],
  refuse: [isFunction, "a function"],
  idempotencyKey: [isKey, "a text of 1 to 256 characters"],
  priority: [isPriority, "a whole number from -100 to 100"],
  onLimit: [(value) => value === "wait" || value === "fail", '"wait" or "fail"'],
  user: [isText, "a text"],
  traceparent: [isText, "a text"],
  tracestate: [isText, "a text"],
  from: [isText, "a text"],
  onEvent: [isFunction, "a function"],
};

/** The failure of a call that was given an unknown or wrong option, if it was. */
export function refuseOptions(options: CallOptions): Failure | undefined {
  const wrong = findWrongOption(options, expectations);
  return wrong && toFailure("option-invalid", wrong);
}

function isText(value: unknown): boolean {
  return typeof value === "string";
}

function isKey(value: unknown): boolean {
  return typeof value === "string" && value.length > 0 && value.length <= 256 && value.isWellFormed();
}

function isPriority(value: unknown): boolean {
  return Number.isSafeInteger(value) && Math.abs(value as number) <= 100;
}
