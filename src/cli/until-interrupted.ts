/** Ctrl-C, a request to end, and a terminal that is closed. */
const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** Does work that the first Ctrl-C, or a request to end, cancels, so that it can clean up; the second one ends the program. */
export async function untilInterrupted<Result>(work: (signal: AbortSignal) => Promise<Result>): Promise<Result> {
  const controller = new AbortController();
  const stopWaiting = onInterrupt(() => controller.abort());
  try {
    return await work(controller.signal);
  } finally {
    stopWaiting();
  }
}

/** Calls `stop` when somebody wants the program to end, until the function is called that it answers with. */
export function onInterrupt(stop: () => void): () => void {
  for (const name of signals) process.once(name, stop);
  return () => {
    for (const name of signals) process.off(name, stop);
  };
}
