interface Shared<Result> {
  readonly result: Promise<Result>;
  readonly stop: AbortController;
  waiting: number;
}

/** Does the work of one key once for all who ask at the same time; it is stopped when the last of them has gone. */
export type ShareWork<Result> = (
  key: string,
  work: (signal: AbortSignal) => Promise<Result>,
  signal?: AbortSignal,
) => Promise<Result>;

/** Makes what shares work. Nothing is kept: whoever asks when it is done gets it done again. */
export function shareWork<Result>(): ShareWork<Result> {
  const running = new Map<string, Shared<Result>>();

  function start(key: string, work: (signal: AbortSignal) => Promise<Result>): Shared<Result> {
    const stop = new AbortController();
    const shared: Shared<Result> = { result: work(stop.signal), stop, waiting: 0 };
    running.set(key, shared);
    const forget = (): void => {
      if (running.get(key) === shared) running.delete(key);
    };
    shared.result.then(forget, forget);
    return shared;
  }

  return async (key, work, signal) => {
    signal?.throwIfAborted();
    const shared = running.get(key) ?? start(key, work);
    shared.waiting++;
    const gone = Promise.withResolvers<never>();
    const leave = (): void => gone.reject(signal?.reason);
    signal?.addEventListener("abort", leave, { once: true });
    try {
      return await Promise.race([shared.result, gone.promise]);
    } finally {
      signal?.removeEventListener("abort", leave);
      shared.waiting--;
      if (signal?.aborted === true && shared.waiting === 0) {
        // Whoever asks from now on must not get what is being stopped.
        if (running.get(key) === shared) running.delete(key);
        shared.stop.abort(signal.reason);
        await shared.result.catch(() => {});
      }
    }
  };
}
