import type { Failure } from "../../core/errors.ts";
import type { Call } from "./call.ts";

/** What {@link raceStop} answers: the value, or why the call had to stop first. */
export type Race<Value> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly failure: Failure };

/**
 * Waits for `work`, until the call must stop: because somebody stops it, or because its deadline comes. Rejects only if `work`
 * does so in time. A value that comes later goes to `onLate`; an error that comes later is how a tool obeys.
 */
export function raceStop<Value>(call: Call, work: PromiseLike<Value>, onLate?: () => void): Promise<Race<Value>> {
  return new Promise((resolve) => {
    let isLate = false;
    const give = (failure: Failure): void => {
      isLate = true;
      resolve({ ok: false, failure });
    };
    work.then(
      (value) => {
        if (isLate) return onLate?.();
        call.onStop(undefined);
        resolve({ ok: true, value });
      },
      () => {
        if (isLate) return;
        call.onStop(undefined);
        // With whatever the tool threw.
        resolve(work as PromiseLike<never>);
      },
    );
    if (call.stopped !== undefined) give(call.stopped);
    else call.onStop(give);
  });
}

/** The longest time that a timer can wait. */
const longestTimer = 2 ** 31 - 1;

/** Waits for some time, but for no longer than a timer can, until the call must stop. */
export async function sleepIn(call: Call, ms: number): Promise<Race<void>> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, Math.min(ms, longestTimer));
  try {
    return await raceStop(call, promise);
  } finally {
    clearTimeout(timer);
  }
}
