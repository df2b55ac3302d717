import assert from "node:assert/strict";

import { isKitbagError, type ErrorCode } from "../../core/errors.ts";
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

/** Says that nobody may be there to see `promise` reject: a check may have failed before it came to that. */
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
