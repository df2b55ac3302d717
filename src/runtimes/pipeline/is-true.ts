import { isDeepStrictEqual } from "node:util";

import { showValue, type JsonValue } from "../../core/json.ts";
import type { Comparison, Condition, Operand } from "./parse-condition.ts";
import { followReference, type Scope } from "./render-template.ts";

/**
 * Tells whether a condition holds. Nothing, `null`, `false`, `0`, the empty text, the empty list and the empty object count as
 * false; everything else as true. Equal are values that are the same JSON: `1` is not `"1"`.
 *
 * @throws {TypeError} if it is asked which is greater of anything but two numbers or two texts.
 */
export function isTrue(condition: Condition, scope: Scope): boolean {
  switch (condition.kind) {
    case "literal":
    case "reference":
      return isTruthy(getValue(condition, scope));
    case "not":
      return !isTrue(condition.condition, scope);
    case "and":
      return isTrue(condition.left, scope) && isTrue(condition.right, scope);
    case "or":
      return isTrue(condition.left, scope) || isTrue(condition.right, scope);
    case "compare":
      return compare(condition.comparison, getValue(condition.left, scope), getValue(condition.right, scope));
  }
}

function getValue(operand: Operand, scope: Scope): JsonValue {
  return (operand.kind === "literal" ? operand.value : followReference(operand.reference, scope)) ?? null;
}

function isTruthy(value: JsonValue): boolean {
  if (typeof value !== "object" || value === null) return Boolean(value);
  return Object.keys(value).length > 0;
}

function compare(comparison: Comparison, left: JsonValue, right: JsonValue): boolean {
  switch (comparison) {
    case "==":
      return isEqual(left, right);
    case "!=":
      return !isEqual(left, right);
    case "<":
      return order(left, right) < 0;
    case ">":
      return order(left, right) > 0;
    case "<=":
      return order(left, right) <= 0;
    case ">=":
      return order(left, right) >= 0;
  }
}

function isEqual(left: JsonValue, right: JsonValue): boolean {
  // For JSON 0 and -0 are one number.
  return left === right || isDeepStrictEqual(left, right);
}

function order(left: JsonValue, right: JsonValue): number {
  if (typeof left === "number" && typeof right === "number") return left - right;
  if (typeof left === "string" && typeof right === "string") return left < right ? -1 : Number(left > right);
  throw new TypeError(`cannot tell which is greater, ${showValue(left)} or ${showValue(right)}`);
}
