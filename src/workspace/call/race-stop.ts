import { toFailure, type Failure } from "../../core/errors.ts";
import type { Call } from "./call.ts";

/** What {@link raceStop} answers: the value, or why the call had to stop first. */
export type Race<Value> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly failure: Failure };

/**
 * Waits for `work`, until the call must stop or its deadline comes. Rejects only if `work` does so in time; what comes later
 * goes to `onLate`.
 */
export function raceStop<Value>(call: Call, work: Promise<Value>, onLate?: () => void): Promise<Race<Value>> {
  return new Promise((resolve, reject) => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    let settled = false;
    const offStop = call.onStop((failure) => settle(() => resolve({ ok: false, failure })));
    const settle = (finish: () => void): void => {
      if (settled) return onLate?.();
      settled = true;
      offStop();
      clearTimeout(timer);
      finish();
    };
    work.then(
      (value) => settle(() => resolve({ ok: true, value })),
      (cause: unknown) => settle(() => reject(cause as Error)),
    );
    if (call.stopped !== undefined) resolveStopped(call.stopped);
    else if (call.deadlineAt !== Number.POSITIVE_INFINITY) timer = startClock(call);

    function resolveStopped(failure: Failure): void {
      settle(() => resolve({ ok: false, failure }));
    }
  });
}

/** The longest time a timer can wait; a longer limit is no limit. */
const longestTimer = 2 ** 31 - 1;

function startClock(call: Call): ReturnType<typeof setTimeout> | undefined {
  const remainingMs = call.deadlineAt - performance.now();
  if (remainingMs > longestTimer) return undefined;
  return setTimeout(() => call.stop(timedOut(call)), Math.max(0, remainingMs));
}

/** The failure of a call that was still running at its limit. */
export function timedOut(call: Call): Failure {
  return toFailure("call-timeout", { tool: call.address, limitMs: call.limitMs });
}
