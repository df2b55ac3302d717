/** Decides when it pays to wait a moment for more writes, so that they are one commit. */
export interface Gathering {
  /** Whether to wait before `pending` writes are committed. */
  isUseful(pending: number): boolean;
  /** Takes note that `pending` writes were committed just now. */
  note(pending: number): void;
}

/** How long to wait: as short as a timer can be. */
export const gatherMs = 1;
/** So many in one commit mean that many call at once. */
const fewest = 3;
/** How many commits go by without waiting after a time when nobody came. */
const longestPause = 64;

/**
 * Makes the decision. Where calls keep coming while others are written, commits that follow each other at once take most of the
 * time, and whoever comes next waits for it: fewer and larger ones let everybody through sooner. Where all callers wait already
 * nobody comes, and waiting is only lost: then it is not tried again for a while.
 */
export function createGathering(now: () => number = () => performance.now()): Gathering {
  let lastCount = 0;
  let lastAt = 0;
  /** How many there were when somebody decided to wait. */
  let waited = 0;
  let pause = 0;

  return {
    isUseful(pending) {
      waited = 0;
      if (pause > 0) pause -= 1;
      else if (lastCount >= fewest && now() - lastAt < gatherMs) waited = pending;
      return waited > 0;
    },
    note(pending) {
      if (waited > 0 && pending <= waited) pause = longestPause;
      waited = 0;
      lastCount = pending;
      lastAt = now();
    },
  };
}
