import { isBusy } from "./sqlite-errors.ts";

/** How long somebody else may have the lock before we give up. */
export const longestBusyMs = 5000;

/** How long to wait before the next try: by chance, so that several processes do not meet again and again. */
export function toPauseMs(tries: number): number {
  return Math.random() * Math.min(2 ** Math.min(tries, 5), 20) + 0.5;
}

/** Runs `run` until nobody else has the lock. It is never held up by SQLite itself, so the process goes on meanwhile. */
export async function retryWhileBusy<Value>(run: () => Value | Promise<Value>): Promise<Value> {
  const start = performance.now();
  for (let tries = 0; ; tries++) {
    try {
      return await run();
    } catch (cause) {
      if (!isBusy(cause) || performance.now() - start > longestBusyMs) throw cause;
    }
    await pause(toPauseMs(tries));
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}
