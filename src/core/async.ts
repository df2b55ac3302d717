/** What waits, takes turns and tries again: one of each. Imports nothing; times go by the timers of the platform. */

/** The longest time that a timer can wait; a longer one fires at once. */
export const longestTimerMs: number = 2 ** 31 - 1;

/** Runs one piece of work at a time, in the order of the calls. */
export type Mutex = <Result>(work: () => Result | Promise<Result>) => Promise<Result>;

/** Makes a mutex. Work that fails does not hold up the next. */
export function createMutex(): Mutex {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const current = last.then(work);
    last = current.catch(() => undefined);
    return current;
  };
}

/** Lets a limited number of callers go on at once; the others wait, in the order in which they came. */
export interface Semaphore {
  /** Takes a permit if one is free. Call the answer, once, to give it back. */
  tryTake(): (() => void) | undefined;
  /** Waits for a permit. Rejects with the signal's reason if it is aborted before. */
  take(signal?: AbortSignal): Promise<() => void>;
  /** Runs `work` with a permit: at once if one is free. Rejects like {@link Semaphore.take}; then `work` never begins. */
  run<Result>(work: () => Result | Promise<Result>, signal?: AbortSignal): Promise<Result>;
}

/** Makes a semaphore with `permits` permits. */
export function createSemaphore(permits: number): Semaphore {
  const waiting = new Set<() => void>();
  let free = permits;

  function release(): void {
    const [next] = waiting;
    if (next === undefined) {
      free += 1;
      return;
    }
    waiting.delete(next);
    next();
  }

  function tryTake(): (() => void) | undefined {
    if (free === 0) return undefined;
    free -= 1;
    return release;
  }

  function wait(signal: AbortSignal | undefined): Promise<() => void> {
    return new Promise((resolve, reject) => {
      const onPermit = (): void => {
        signal?.removeEventListener("abort", onAbort);
        resolve(release);
      };
      const onAbort = (): void => {
        waiting.delete(onPermit);
        reject(signal?.reason as Error);
      };
      waiting.add(onPermit);
      signal?.addEventListener("abort", onAbort, { once: true });
    });
  }

  async function take(signal?: AbortSignal): Promise<() => void> {
    signal?.throwIfAborted();
    return tryTake() ?? wait(signal);
  }

  return {
    tryTake,
    take,
    async run(work, signal) {
      signal?.throwIfAborted();
      const done = tryTake() ?? (await wait(signal));
      try {
        return await work();
      } finally {
        done();
      }
    },
  };
}

/** Waits for `work`, but no longer than until `signal` is aborted: then it rejects with the reason, and `work` is ignored. */
export function untilAborted<Result>(work: PromiseLike<Result>, signal: AbortSignal | undefined): Promise<Result> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(signal?.reason as Error);
    const leave = (): void => signal?.removeEventListener("abort", onAbort);
    if (signal?.aborted === true) onAbort();
    else signal?.addEventListener("abort", onAbort, { once: true });
    work.then(
      (result) => {
        leave();
        resolve(result);
      },
      () => {
        leave();
        // Rejects as it does.
        resolve(work);
      },
    );
  });
}

/** Waits for `work`, but no longer than `limitMs`: then it answers with `late()`, or rejects with what that throws. */
export async function untilTimeout<Result>(
  work: PromiseLike<Result>,
  limitMs: number,
  late: () => Result,
): Promise<Result> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const timeout = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, Math.min(limitMs, longestTimerMs));
  }).then(late);
  try {
    return await Promise.race([work, timeout]);
  } finally {
    clearTimeout(timer);
  }
}

/** How long {@link backOffMs} waits. */
export interface BackOff {
  /** Before the second attempt, at most. */
  readonly firstMs: number;
  readonly maxMs: number;
}

/**
 * How long to wait after attempt `attempt`, which counts from 1: up to twice as long each time, and a random part of between half and
 * all of it, so that callers that failed together do not come back together.
 */
export function backOffMs(attempt: number, { firstMs, maxMs }: BackOff, random: () => number = Math.random): number {
  return Math.min(maxMs, firstMs * 2 ** (attempt - 1)) * (0.5 + random() / 2);
}
