import { describeCause } from "../../core/errors.ts";

/** The time that models are waited for by, so that a test can make its own. */
export interface ModelClock {
  /** Milliseconds since 1970. */
  now(): number;
  /** Milliseconds since some moment. Never goes back. */
  elapsed(): number;
  /** Calls `callback` once, when the time is over; answers with what stops it. */
  after(ms: number, callback: () => void): () => void;
}

/** The clock of the machine. */
export const machineClock: ModelClock = {
  now: Date.now,
  elapsed: () => performance.now(),
  after(ms, callback) {
    const timer = setTimeout(callback, ms);
    return () => clearTimeout(timer);
  },
};

/** Waits; rejects with the signal's reason as soon as it is aborted. */
export function wait(clock: ModelClock, ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      cancel();
      reject(toError(signal?.reason));
    };
    const cancel = clock.after(ms, () => {
      signal?.removeEventListener("abort", stop);
      resolve();
    });
    if (signal?.aborted === true) stop();
    else signal?.addEventListener("abort", stop, { once: true });
  });
}

/** What a caller aborted with, which need not be an error. */
export function toError(reason: unknown): Error {
  if (reason instanceof Error) return reason;
  return new DOMException(reason === undefined ? "The call was cancelled" : describeCause(reason), "AbortError");
}
