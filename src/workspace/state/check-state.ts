import { KitbagError, type Problem } from "../../core/errors.ts";
import { copyJson, maxJsonDepth, showValue, type JsonValue } from "../../core/json.ts";
import type { StateExpectation } from "../../core/tool-state.ts";
import { isObject } from "../find-wrong-option.ts";

const maxKeyBytes = 512;
const maxValueBytes = 1024 * 1024;

/** The longest piece of a wrong key that an error carries. */
const longestShown = 200;

/** The most entries that can be listed at once. */
const maxListed = 1000;

/**
 * Checks a key.
 *
 * @throws {KitbagError} `state-invalid` if the contract of `ToolState` does not allow it.
 */
export function checkStateKey(key: string): void {
  checkStateKeyPart("key", key);
  if (key === "") refuse(key, { path: "key", expected: "a text", found: "an empty one" });
}

/**
 * Checks what keys are compared with: like a key, but it may be empty.
 *
 * @throws {KitbagError} `state-invalid` if no key can begin with it.
 */
export function checkStateKeyPart(path: string, part: string): void {
  if (typeof part !== "string") return refuse("", { path, expected: "a text", found: showValue(part) });
  if (Buffer.byteLength(part) > maxKeyBytes) {
    refuse(part, { path, expected: `at most ${maxKeyBytes} bytes`, found: `${Buffer.byteLength(part)}` });
  }
  if (part.includes("\0")) refuse(part, { path, expected: "a text without NUL", found: "one with it" });
  if (!part.isWellFormed()) refuse(part, { path, expected: "whole characters", found: "an unpaired surrogate" });
}

/** A value as it is kept, and how long it is as JSON. */
export interface StateValue {
  readonly value: JsonValue;
  readonly bytes: number;
}

/**
 * Copies a value on its way in.
 *
 * @throws {KitbagError} `state-invalid` if the contract of `ToolState` does not allow it.
 */
export function copyStateValue(key: string, value: unknown): StateValue {
  const copy = copyJson(value, { maxBytes: maxValueBytes, maxDepth: maxJsonDepth });
  if (copy.ok) return copy;
  if (copy.reason === "too-large") refuse(key, { path: "value", expected: "at most 1 MiB", found: "more" });
  const { path, expected, found } = copy.problem;
  return refuse(key, { path: path === "" ? "value" : `value.${path}`, expected, found });
}

/**
 * Checks what a write waits for.
 *
 * @throws {KitbagError} `state-invalid` if it is neither a version nor a value.
 */
export function checkExpectation(key: string, expected: StateExpectation): void {
  if (isObject(expected) && ("version" in expected || "value" in expected)) return;
  const found = showValue(expected);
  refuse(key, { path: "expected", expected: "{ version } or { value }", found });
}

/**
 * Checks how many entries are asked for.
 *
 * @throws {KitbagError} `option-invalid` if it is not a whole number that can be listed at once.
 */
export function checkListLimit(limit: number): void {
  if (Number.isInteger(limit) && limit >= 1 && limit <= maxListed) return;
  const expected = `a whole number from 1 to ${maxListed}`;
  throw new KitbagError("option-invalid", { option: "limit", found: showValue(limit), expected });
}

function refuse(key: string, problem: Problem): never {
  throw new KitbagError("state-invalid", { key: key.slice(0, longestShown), problems: [problem] });
}
