/** Lets only so many go on at once; the others wait in line. */
export interface Turns {
  /**
   * Waits for a turn, and gives it back when `work` is over.
   *
   * Rejects with the signal's reason if it is aborted before the turn comes; then `work` never begins.
   */
  run<Value>(work: () => Promise<Value>, signal: AbortSignal): Promise<Value>;
}

/** Makes turns for `max` at once. */
export function createTurns(max: number): Turns {
  const waiting = new Set<() => void>();
  let running = 0;

  function take(signal: AbortSignal): Promise<void> | undefined {
    if (running < max) {
      running += 1;
      return undefined;
    }
    return new Promise<void>((resolve, reject) => {
      const onAbort = (): void => {
        waiting.delete(onTurn);
        reject(signal.reason as Error);
      };
      const onTurn = (): void => {
        signal.removeEventListener("abort", onAbort);
        resolve();
      };
      waiting.add(onTurn);
      signal.addEventListener("abort", onAbort);
    });
  }

  function pass(): void {
    const [next] = waiting;
    if (next === undefined) running -= 1;
    else {
      waiting.delete(next);
      next();
    }
  }

  return {
    async run(work, signal) {
      signal.throwIfAborted();
      const turn = take(signal);
      // Whoever need not wait begins at once, in the order of the calls.
      if (turn !== undefined) await turn;
      try {
        return await work();
      } finally {
        pass();
      }
    },
  };
}
