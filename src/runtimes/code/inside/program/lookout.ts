import { availableParallelism } from "node:os";

/** Tells whether it is of use to look for something again and again, instead of sleeping until it is there. */
export interface Lookout {
  isUseful(): boolean;
  /** Takes note whether it was there in time. */
  learn(isSeen: boolean): void;
}

/** The clock as it is when this is loaded: nobody may look for ever because a test has stopped it. */
export const now = performance.now.bind(performance);

/** For how long to look. To be woken takes a third of this, and as long again until everything is in the caches. */
export const longestLookMs = 0.15;
/** How often at most not to look when it was in vain. */
const longestPause = 63;
/** How it was before this says nothing about how it is now. */
const memoryMs = 200;

/**
 * Makes a lookout. Where another processor is free, another thread gets on meanwhile with what is looked for, and neither of them
 * grows cold. On a busy machine looking only takes time from that thread: whoever looks in vain looks a quarter as often from then on.
 */
export function createLookout(processors = availableParallelism()): Lookout {
  let pause = 0;
  let left = 0;
  let learntAt = 0;

  return {
    isUseful() {
      if (processors < 2) return false;
      if (left === 0 || now() - learntAt > memoryMs) return true;
      left -= 1;
      return false;
    },
    learn(isSeen) {
      const learntNow = now();
      const isKnown = learntNow - learntAt <= memoryMs;
      pause = isSeen ? 0 : Math.min((isKnown ? pause : 0) * 4 + 3, longestPause);
      left = pause;
      learntAt = learntNow;
    },
  };
}
