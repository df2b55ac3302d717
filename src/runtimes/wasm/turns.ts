/** A limited number of turns; whoever gets none at once waits in line. */
export interface Turns {
  /** Takes a turn if there is one now. Call the answer, once, to give it back. */
  tryTake(): (() => void) | undefined;
  /** Waits for a turn, at most until `signal` aborts; then it rejects with the reason. */
  take(signal: AbortSignal): Promise<() => void>;
}

/** Makes `count` turns. */
export function createTurns(count: number): Turns {
  const waiting = new Set<() => void>();
  let left = count;

  function release(): void {
    left += 1;
    const [next] = waiting;
    if (next === undefined) return;
    waiting.delete(next);
    next();
  }

  function tryTake(): (() => void) | undefined {
    if (left === 0) return undefined;
    left -= 1;
    return release;
  }

  return {
    tryTake,
    take(signal) {
      const { promise, resolve, reject } = Promise.withResolvers<() => void>();
      const next = (): void => {
        signal.removeEventListener("abort", leave);
        left -= 1;
        resolve(release);
      };
      const leave = (): void => {
        waiting.delete(next);
        reject(signal.reason as Error);
      };
      if (signal.aborted) leave();
      else {
        signal.addEventListener("abort", leave, { once: true });
        waiting.add(next);
      }
      return promise;
    },
  };
}
