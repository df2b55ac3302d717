/** How often is looked whether something came, in milliseconds. */
const lookEveryMs = 25;

/** How to wait for the end of what a program says, after the program itself has ended. */
export interface Patience {
  /** How many looks in a row find nothing before somebody is taken to hold the pipe open. */
  readonly looks: number;
  /** Whether something came since the last look. */
  readonly wasBusy: () => boolean;
}

/**
 * Resolves when `ended` does, or when nothing came for a while. A look counts only after the event loop has read whatever was
 * there: a process that is too busy to read must not take that for silence.
 */
export function waitForEnd(ended: Promise<void>, { looks, wasBusy }: Patience): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  let quiet = 0;
  const look = (): void => {
    quiet = wasBusy() ? 0 : quiet + 1;
    if (quiet >= looks) resolve();
  };
  // An immediate runs right after the loop has looked for what can be read.
  const timer = setInterval(() => setImmediate(look), lookEveryMs);
  void ended.then(resolve);
  return promise.finally(() => clearInterval(timer));
}
