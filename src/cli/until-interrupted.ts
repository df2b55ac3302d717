/** Does work that the first Ctrl-C, or a request to end, cancels, so that it can clean up; the second one ends the program. */
export async function untilInterrupted<Result>(work: (signal: AbortSignal) => Promise<Result>): Promise<Result> {
  const controller = new AbortController();
  const cancel = (): void => controller.abort();
  process.once("SIGINT", cancel).once("SIGTERM", cancel);
  try {
    return await work(controller.signal);
  } finally {
    process.off("SIGINT", cancel).off("SIGTERM", cancel);
  }
}
