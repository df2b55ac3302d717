/**
 * Waits for `work`, at most until the run is stopped: then it rejects with the signal's reason, and the result of `work` is ignored.
 * `graceMs` is how long it waits after the stop, for work that must happen also in a stopped run.
 */
export function untilStopped<Value>(signal: AbortSignal, work: PromiseLike<Value>, graceMs = 0): Promise<Value> {
  return new Promise((resolve, reject) => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const giveUp = (): void => reject(signal.reason as Error);
    const stop = (): void => {
      if (graceMs === 0) giveUp();
      else timer = setTimeout(giveUp, graceMs);
    };
    const leave = (): void => {
      signal.removeEventListener("abort", stop);
      clearTimeout(timer);
    };
    if (signal.aborted) stop();
    else signal.addEventListener("abort", stop, { once: true });
    work.then(
      (value) => {
        leave();
        resolve(value);
      },
      () => {
        leave();
        // With whatever it rejects.
        resolve(work);
      },
    );
  });
}

/** The one thing at a time that a run waits for, again and again: the same as {@link untilStopped}, with one listener for all of them. */
export class StopWait {
  #giveUp: ((reason: Error) => void) | undefined;

  constructor(signal: AbortSignal) {
    signal.addEventListener("abort", () => this.#giveUp?.(signal.reason as Error), { once: true });
  }

  /** Waits for `work`, which is the only thing that is waited for in this way now. */
  during<Value>(signal: AbortSignal, work: Promise<Value>): Promise<Value> {
    return new Promise((resolve, reject) => {
      this.#giveUp = reject;
      work.then(resolve, reject);
      if (signal.aborted) reject(signal.reason as Error);
    });
  }
}
