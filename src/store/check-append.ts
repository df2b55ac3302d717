import { KitbagError } from "../core/errors.ts";
import { showValue, type JsonValue } from "../core/json.ts";
import type { AppendOptions } from "../core/store.ts";
import { checkDurable } from "./check-durable.ts";
import { checkKey } from "./check-key.ts";
import { checkWhole } from "./check-whole.ts";
import { toKept } from "./kept-value.ts";
import { toKeptText } from "./to-kept-text.ts";

/** What may be said with an append, after it was checked. */
export type CheckedAppend = { readonly [Name in keyof AppendOptions]: AppendOptions[Name] | undefined };

/**
 * Checks where values are to be appended, and what is said with them.
 *
 * @throws {KitbagError} `store-key-invalid`, `option-invalid`
 */
export function checkAppend(stream: string, options: AppendOptions | undefined): CheckedAppend {
  const { expectedPosition, time, durable } = options ?? {};
  checkKey(stream);
  if (expectedPosition !== undefined) checkWhole("expectedPosition", expectedPosition);
  if (time !== undefined) checkWhole("time", time);
  checkDurable(durable);
  return { expectedPosition, time, durable };
}

/**
 * Copies the values that are to be appended to a stream.
 *
 * @throws {KitbagError} `store-value-invalid`
 */
export function toKeptList(stream: string, values: readonly JsonValue[]): readonly JsonValue[] {
  return convertEach(stream, values, toKept);
}

/** Does the same for a log that keeps them as texts. */
export function toKeptTexts(stream: string, values: readonly JsonValue[]): readonly string[] {
  return convertEach(stream, values, toKeptText);
}

function convertEach<Kept>(
  stream: string,
  values: readonly JsonValue[],
  convert: (where: string, value: unknown, index: number) => Kept,
): readonly Kept[] {
  if (Array.isArray(values)) {
    const kept: Kept[] = [];
    // By number, so that holes are found.
    for (let index = 0; index < values.length; index++) kept.push(convert(stream, values[index], index));
    return kept;
  }
  const problem = { path: "", expected: "a list of values", found: showValue(values) };
  throw new KitbagError("store-value-invalid", { where: stream, problems: [problem] });
}

/**
 * Checks that a stream ends where it was expected to.
 *
 * @throws {KitbagError} `store-conflict`
 */
export function checkPosition(stream: string, position: number, expectedPosition: number | undefined): void {
  if (expectedPosition === undefined || expectedPosition === position) return;
  throw new KitbagError("store-conflict", {
    where: stream,
    expected: `position ${expectedPosition}`,
    found: `position ${position}`,
  });
}
