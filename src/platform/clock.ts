import { describeCause } from "../core/error-texts.ts";

/** The time, so that a test can bring its own. */
export interface Clock {
  /** Milliseconds since 1970. May jump. */
  now(): number;
  /** Milliseconds since some moment. Never goes back, and never stands still while the process is stopped. */
  elapsed(): number;
  /** Calls `callback` once, when the time is over. Answers with a function that stops the timer. */
  after(ms: number, callback: () => void, options?: TimerOptions): () => void;
}

/** What a timer of {@link Clock.after} does beside calling. */
export interface TimerOptions {
  /** Lets the process end before the time is over. @default false */
  readonly unref?: boolean;
}

/** The clock of the machine. */
export const machineClock: Clock = {
  now: Date.now,
  elapsed: () => performance.now(),
  after(ms, callback, { unref = false } = {}) {
    const timer = setTimeout(callback, ms);
    if (unref) timer.unref();
    return () => clearTimeout(timer);
  },
};

/** Waits by a clock; rejects with the signal's reason as soon as it is aborted. */
export function wait(clock: Clock, ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => {
      cancel();
      reject(toAbortError(signal?.reason));
    };
    const cancel = clock.after(ms, () => {
      signal?.removeEventListener("abort", onAbort);
      resolve();
    });
    if (signal?.aborted === true) onAbort();
    else signal?.addEventListener("abort", onAbort, { once: true });
  });
}

/** The reason that a caller aborted with, which need not be an error, as an error. */
export function toAbortError(reason: unknown): Error {
  if (reason instanceof Error) return reason;
  return new DOMException(reason === undefined ? "The call was cancelled" : describeCause(reason), "AbortError");
}
