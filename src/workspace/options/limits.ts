import { KitbagError } from "../../core/errors.ts";
import { findWrongOption, isAboveZero, type Expectations } from "./find-wrong-option.ts";

/** What a call may use and how deep calls may go. Every number can be set for the workspace; some also for one call. */
export interface WorkspaceLimits {
  /** How long a call may run, unless the tool or the caller says otherwise. @default 30000 */
  readonly limitMs: number;
  /** How many calls may run at once in this process, nested ones not counted. @default 1000 */
  readonly maxConcurrent: number;
  /** How many calls of one user may run at once in this process, nested ones not counted; more wait. @default Infinity */
  readonly maxPerUser: number;
  /**
   * How many calls may run at once in all processes that share the store, nested ones not counted. Each call takes its place in the
   * store and gives it back. @default Infinity
   */
  readonly maxTogether: number;
  /** How many calls may wait for a place or for a limit; more are refused at once. @default 10000 */
  readonly maxWaiting: number;
  /** How deep calls may call. @default 16 */
  readonly maxDepth: number;
  /** How often one tool may be in a chain of calls. @default 3 */
  readonly maxCycle: number;
  /** How many calls one call may make, all levels together. @default 1000 */
  readonly maxCalls: number;
  /** The largest input. @default 16 MiB */
  readonly maxInputBytes: number;
  /** Above this an output is kept under a handle, and only its head is handed over. @default 1 MiB */
  readonly maxOutputBytes: number;
  /** Above this an output is not even kept: the call fails. @default 64 MiB */
  readonly maxKeptBytes: number;
  /** How long the outcome of a call with an `idempotencyKey` is kept; after that its key is as good as new. @default Infinity */
  readonly keyMs: number;
}

/** The limits that hold by default. */
export const defaultLimits: WorkspaceLimits = {
  limitMs: 30_000,
  maxConcurrent: 1000,
  maxPerUser: Infinity,
  maxTogether: Infinity,
  maxWaiting: 10_000,
  maxDepth: 16,
  maxCycle: 3,
  maxCalls: 1000,
  maxInputBytes: 16 * 1024 * 1024,
  maxOutputBytes: 1024 * 1024,
  maxKeptBytes: 64 * 1024 * 1024,
  keyMs: Infinity,
};

const aboveZero = [isAboveZero, "a number above 0"] as const;

function isCountOrInfinite(value: unknown): boolean {
  return value === Number.POSITIVE_INFINITY || (Number.isSafeInteger(value) && (value as number) > 0);
}

const expectations: Expectations<WorkspaceLimits> = {
  limitMs: aboveZero,
  maxConcurrent: aboveZero,
  maxPerUser: [isCountOrInfinite, "a whole number above 0, or Infinity"],
  maxTogether: [isCountOrInfinite, "a whole number above 0, or Infinity"],
  maxWaiting: aboveZero,
  maxDepth: aboveZero,
  maxCycle: aboveZero,
  maxCalls: aboveZero,
  maxInputBytes: aboveZero,
  maxOutputBytes: aboveZero,
  maxKeptBytes: aboveZero,
  keyMs: aboveZero,
};

/**
 * Fills in the limits that are not given.
 *
 * @throws {KitbagError} `option-invalid` for an unknown limit or one that is not a number above 0.
 */
export function toLimits(given: Partial<WorkspaceLimits>): WorkspaceLimits {
  const wrong = findWrongOption(given, expectations, "limits");
  if (wrong !== undefined) throw new KitbagError("option-invalid", wrong);
  const set = Object.entries(given).filter(([, value]) => value !== undefined);
  return { ...defaultLimits, ...Object.fromEntries(set) };
}
