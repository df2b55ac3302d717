/** Ctrl-C, a request to end, and a terminal that is closed. */
export const endSignals: readonly NodeJS.Signals[] = ["SIGINT", "SIGTERM", "SIGHUP"];

/** Does work that the first Ctrl-C, or a request to end, cancels, so that it can clean up; the second one ends the program. */
export async function untilInterrupted<Result>(
  work: (signal: AbortSignal) => Promise<Result>,
  signals = endSignals,
): Promise<Result> {
  const controller = new AbortController();
  const stopWaiting = onInterrupt(() => controller.abort(), signals);
  try {
    return await work(controller.signal);
  } finally {
    stopWaiting();
  }
}

/** What is to end in order, each with what stops it. */
const goingOn = new Set<() => void>();

/** Calls `stop` when the program is asked to end; returns the function that cancels this. */
export function onInterrupt(stop: () => void, signals = endSignals): () => void {
  goingOn.add(stop);
  for (const name of signals) process.once(name, stop);
  return () => {
    goingOn.delete(stop);
    for (const name of signals) process.off(name, stop);
  };
}

/** Does what must not be left half done when the program is to end: it is not stopped, but waited for. */
export async function uninterrupted(work: () => Promise<void>): Promise<void> {
  const isDone = (): void => {};
  goingOn.add(isDone);
  try {
    await work();
  } finally {
    goingOn.delete(isDone);
  }
}

/** Stops what goes on, as a signal does, however often it is called. Answers whether there is anything that must end first. */
export function interrupt(): boolean {
  for (const stop of goingOn) stop();
  return goingOn.size > 0;
}
