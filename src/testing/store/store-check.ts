import assert from "node:assert/strict";

import { isKitbagError, type ErrorCode } from "../../core/errors.ts";
import type { JsonValue } from "../../core/json.ts";
import type { Store } from "../../core/store.ts";

/** Lets time pass. */
export type Wait = (ms: number) => Promise<void> | void;

/** Checks by name. Each gets an empty store of its own, which is closed afterwards. */
export type StoreChecks = Readonly<Record<string, (store: Store, wait: Wait) => Promise<void>>>;

/** How long something may take that a correct store does at once. */
const patienceMs = 5000;

/** Waits for `promise`, but not for ever: a store that hangs must fail a check and not the whole run. */
export async function within<Value>(promise: Promise<Value>, what: string): Promise<Value> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new assert.AssertionError({ message: `still waiting for ${what}` })), patienceMs);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Keeps a rejection of `promise` from being unhandled: a check may fail before it awaits it. */
export function quietly<Value>(promise: Promise<Value>): Promise<Value> {
  promise.catch(() => undefined);
  return promise;
}

/** Asserts that `call` rejects with `code`, and does not throw at once. */
export async function rejectsWith(code: ErrorCode, call: () => Promise<unknown>): Promise<void> {
  let answer: Promise<unknown>;
  try {
    answer = call();
  } catch (cause) {
    throw new assert.AssertionError({ message: `threw instead of rejecting with "${code}": ${String(cause)}` });
  }
  const error = await within(answer, `a rejection with "${code}"`).then(
    () => "no error",
    (cause: unknown) => cause,
  );
  assert.ok(isKitbagError(error, code), `expected a rejection with "${code}", found ${String(error)}`);
}

/** Asserts that of calls which exclude each other exactly one was done, and that the others met a conflict. */
export async function oneWins(calls: readonly Promise<unknown>[]): Promise<void> {
  const results = await Promise.allSettled(calls);
  const lost = results.filter((result) => result.status === "rejected");
  assert.equal(results.length - lost.length, 1, "exactly one of them must win");
  for (const { reason } of lost) {
    assert.ok(isKitbagError(reason, "store-conflict"), `expected "store-conflict", found ${String(reason)}`);
  }
}

/** Keys that a store must take, and keep apart. */
export const oddKeys: readonly string[] = [
  "__proto__",
  "constructor",
  "toString",
  "a",
  "A",
  "a ",
  " a",
  " ",
  "\t\n\r",
  "\u0001",
  "%",
  "_",
  "*",
  "?",
  "[a]",
  "{a}",
  "\\",
  "/",
  "../a",
  "'; DROP TABLE kv; --",
  '"',
  "a:b",
  "\u00E9",
  "e\u0301",
  "\uFEFF",
  "\uFFFF",
  "\u{1F600}",
  "null",
  "0",
  "x".repeat(1024),
  `${"\u20AC".repeat(341)}x`,
];

/** What is not a key. */
export const wrongKeys: readonly unknown[] = [
  "",
  "\0",
  "a\0b",
  "\uD800",
  "a\uDC00b",
  "\uDE00\uD83D",
  "x".repeat(1025),
  "\u20AC".repeat(342),
  "x".repeat(10_000_000),
  5,
  null,
  undefined,
  true,
  {},
  ["a"],
  Symbol("a"),
];

/** Values that must come back as they are. */
export const jsonValues: readonly JsonValue[] = [
  null,
  true,
  false,
  0,
  -1,
  1.5,
  1e300,
  5e-324,
  Number.MAX_SAFE_INTEGER,
  "",
  "null",
  "a\0b",
  "\uD800",
  "\uDC00\uD800",
  "\u{1F600}\u2028\uFEFF",
  [],
  {},
  [null, [[]], { a: [1, "1", true] }],
  { constructor: 1, prototype: { toString: 2 }, hasOwnProperty: null, "": "empty", "a\0b": 0, "\uD800": "half" },
  nested(128),
];

/** Makes values that JSON, or a store, cannot hold. */
export function notKept(): readonly unknown[] {
  const cycle: unknown[] = [];
  cycle.push({ cycle });
  const unreadable = Object.defineProperty({}, "a", {
    enumerable: true,
    get() {
      throw new Error("this getter always throws");
    },
  });
  return [
    undefined,
    Number.NaN,
    Infinity,
    10n,
    Symbol("a"),
    () => 1,
    new Date(0),
    new Map(),
    new Uint8Array(1),
    [undefined],
    { a: Number.NaN },
    { a: { b: [() => 1] } },
    JSON.parse('{ "__proto__": 1 }'),
    cycle,
    unreadable,
    nested(129),
    nested(10_000),
    "x".repeat(33 * 1024 * 1024),
  ];
}

/** Makes a list of lists, `levels` deep. */
function nested(levels: number): JsonValue {
  let value: JsonValue = [];
  for (let level = 1; level < levels; level++) value = [value];
  return value;
}

/** What is not a whole number from 0. */
export const notWhole: readonly unknown[] = [-1, 0.5, Number.NaN, Infinity, 2 ** 53, "1", null, 1n];
