/** Collects hints until it is quiet, then tells them at once. */
export interface HintCollector {
  /** Without a path: something changed, and it is not known what. */
  hint(path?: string): void;
  close(): void;
}

/** How long to collect. */
export interface CollectOptions {
  /** Waits this long after the last change, so that a save or a checkout is told once. @default 40 */
  readonly settleMs?: number;
  /** Tells after this long even if changes go on. @default 150 */
  readonly longestMs?: number;
}

/** Makes a collector; an empty list of paths means that it is not known which. */
export function collectHints(tell: (paths: readonly string[]) => void, options: CollectOptions = {}): HintCollector {
  const { settleMs = 40, longestMs = 150 } = options;
  const paths = new Set<string>();
  let isUnknown = false;
  let isClosed = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let firstAt = 0;

  function finish(): void {
    timer = undefined;
    const told = isUnknown ? [] : [...paths];
    paths.clear();
    isUnknown = false;
    tell(told);
  }

  return {
    hint(path) {
      if (isClosed) return;
      if (path === undefined) isUnknown = true;
      else paths.add(path);
      const now = performance.now();
      if (timer === undefined) firstAt = now;
      clearTimeout(timer);
      timer = setTimeout(finish, Math.max(0, Math.min(settleMs, firstAt + longestMs - now)));
    },
    close() {
      isClosed = true;
      clearTimeout(timer);
    },
  };
}
