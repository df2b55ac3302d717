import { isUint8Array } from "node:util/types";

import { KitbagError } from "../core/errors.ts";
import { type JsonValue, showValue } from "../core/json.ts";
import { toKept, toKeptText } from "./kept-value.ts";
import type { AppendOptions, ClaimOptions, Job, JobOptions, ListOptions, WriteOptions } from "../core/store.ts";

const maxKeyBytes = 1024;

/** The longest piece of a wrong key that an error carries. */
const longestShown = 200;

/**
 * Checks the key of a value or the name of a stream.
 *
 * @throws {KitbagError} `store-key-invalid` if the contract of `Store` does not allow it.
 */
export function checkKey(key: string): void {
  checkKeyPart(key);
  if (key === "") refuse(key, "it is empty");
}

/**
 * Checks what keys are compared with: like a key, but it may be empty.
 *
 * @throws {KitbagError} `store-key-invalid` if no key can begin with it.
 */
function checkKeyPart(part: string): void {
  if (typeof part !== "string") refuse(showValue(part), "it is not a text");
  // A code unit takes three bytes at the most, so a short text needs no count.
  if (part.length * 3 > maxKeyBytes && Buffer.byteLength(part) > maxKeyBytes) {
    refuse(part, `it is longer than ${maxKeyBytes} bytes`);
  }
  if (part.includes("\0")) refuse(part, "it contains NUL");
  if (!part.isWellFormed()) refuse(part, "it contains an unpaired surrogate");
}

function refuse(key: string, reason: string): never {
  throw new KitbagError("store-key-invalid", { key: key.slice(0, longestShown), reason });
}

/**
 * Checks an argument that is a whole number of at least `least`.
 *
 * @throws {KitbagError} `option-invalid` if it is anything else.
 */
export function checkWhole(option: string, value: number, least = 0): void {
  if (Number.isSafeInteger(value) && value >= least) return;
  throw new KitbagError("option-invalid", {
    option,
    found: showValue(value),
    expected: `a whole number from ${least}`,
  });
}

/**
 * Checks what is said about whether a write must be on disk.
 *
 * @throws {KitbagError} `option-invalid`
 */
function checkDurable(durable: unknown): void {
  if (durable === undefined || typeof durable === "boolean") return;
  throw new KitbagError("option-invalid", { option: "durable", found: showValue(durable), expected: "true or false" });
}

/**
 * Checks what part is to be listed, and fills in what was not said.
 *
 * @throws {KitbagError} `store-key-invalid` or `option-invalid`
 */
export function checkList(options: ListOptions | undefined): Required<ListOptions> {
  const { prefix = "", after = "", limit = 1000 } = options ?? {};
  checkKeyPart(prefix);
  checkKeyPart(after);
  checkWhole("limit", limit);
  return { prefix, after, limit };
}

/**
 * Checks what is said with a write of a value.
 *
 * @throws {KitbagError} `option-invalid`
 */
export function checkWrite(options: WriteOptions | undefined): CheckedWrite {
  const { expiresInMs, ifVersion, durable } = options ?? {};
  if (expiresInMs !== undefined) checkWhole("expiresInMs", expiresInMs, 1);
  if (ifVersion !== undefined) checkWhole("ifVersion", ifVersion);
  checkDurable(durable);
  return { expiresInMs, ifVersion, durable };
}

/** What may be said with a write, after it was checked. */
export type CheckedWrite = { readonly [Name in keyof WriteOptions]-?: WriteOptions[Name] | undefined };

/**
 * Checks that the version that is there, 0 for none, is the one that was expected.
 *
 * @throws {KitbagError} `store-conflict`
 */
export function checkVersion(key: string, version: number, ifVersion: number | undefined): void {
  if (ifVersion === undefined || ifVersion === version) return;
  throw new KitbagError("store-conflict", {
    where: key,
    expected: describeVersion(ifVersion),
    found: describeVersion(version),
  });
}

function describeVersion(version: number): string {
  return version === 0 ? "nothing" : `version ${version}`;
}

/**
 * Adds to a value that is there.
 *
 * @throws {KitbagError} `store-conflict` if it, or the sum, is not a safe integer.
 */
export function toSum(key: string, value: JsonValue, by: number): number {
  const sum = typeof value === "number" ? value + by : Number.NaN;
  if (Number.isSafeInteger(value) && Number.isSafeInteger(sum)) return sum;
  const found = Number.isSafeInteger(value) ? `${showValue(value)} and ${by} more` : showValue(value);
  throw new KitbagError("store-conflict", { where: key, expected: "a whole number up to 2^53 - 1", found });
}

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

/**
 * Checks that what is put can be read piece by piece.
 *
 * @throws {KitbagError} `option-invalid`
 */
export function checkSource(source: AsyncIterable<Uint8Array>): void {
  if (typeof source?.[Symbol.asyncIterator] !== "function") refuseBytes(source);
}

/**
 * Checks a piece of what is put.
 *
 * @throws {KitbagError} `option-invalid`
 */
export function checkPiece(piece: Uint8Array): void {
  if (!isUint8Array(piece)) refuseBytes(piece);
}

function refuseBytes(found: unknown): never {
  const expected = "a Uint8Array, or an async iterable of them";
  throw new KitbagError("option-invalid", { option: "bytes", found: showValue(found), expected });
}

/**
 * Checks the digests that are to be kept.
 *
 * @throws {KitbagError} `option-invalid`
 */
export function checkKeep(keep: ReadonlySet<string>): void {
  // A list has no `has`: taken for a set it would keep nothing, and everything would be deleted.
  if (typeof keep?.has === "function") return;
  throw new KitbagError("option-invalid", { option: "keep", found: showValue(keep), expected: "a Set of digests" });
}

const maxPriority = 1_000_000;

/**
 * Checks what is said of a job, and fills in what was not said.
 *
 * @throws {KitbagError} `store-key-invalid` or `option-invalid`
 */
export function checkAdd(id: string, options: JobOptions | undefined): Required<JobOptions> {
  const { priority = 0, delayMs = 0 } = options ?? {};
  checkKey(id);
  checkWhole("delayMs", delayMs);
  if (Number.isSafeInteger(priority) && Math.abs(priority) <= maxPriority) return { priority, delayMs };
  throw new KitbagError("option-invalid", {
    option: "priority",
    found: showValue(priority),
    expected: `a whole number from -${maxPriority} to ${maxPriority}`,
  });
}

/**
 * Checks how jobs are claimed.
 *
 * @throws {KitbagError} `option-invalid`
 */
export function checkClaim(options: ClaimOptions): Required<ClaimOptions> {
  const { leaseMs, limit = 1 } = options ?? {};
  checkWhole("leaseMs", leaseMs, 1);
  checkWhole("limit", limit);
  return { leaseMs, limit };
}

/**
 * Checks a job that a caller claims to hold.
 *
 * @throws {KitbagError} `store-key-invalid` or `option-invalid`
 */
export function checkJob(job: Job): Job {
  const { id, attempt } = job ?? {};
  checkKey(id);
  checkWhole("attempt", attempt, 1);
  return { id, attempt };
}
