import { readFileSync } from "node:fs";
import { availableParallelism } from "node:os";

/** Tells whether it is of use to look for something again and again, instead of sleeping until it is there. */
export interface Lookout {
  isUseful(): boolean;
  /** Takes note whether it was there in time. */
  learn(isSeen: boolean): void;
}

/** The clock as it is when this is loaded: nobody may look for ever because a test has stopped it. */
export const now = performance.now.bind(performance);

/** For how long to look: a thread that has to be woken, and whose code is not in the caches, is not back earlier. */
export const longestLookMs = 0.6;
/** How often not to look when it was in vain, and at most where there is no processor for it. */
const shortestPause = 3;
const longestPause = 63;
/** How it was before this says nothing about how it is now. */
const memoryMs = 200;

/** What a lookout knows of the machine. */
export interface Processors {
  readonly count: number;
  /** How many threads have something to do now, of all programs; more than there are processors if nobody can tell. */
  countRunning(): number;
}

/**
 * Makes a lookout. Where another processor is free, another thread gets on meanwhile with what is looked for, and neither of them
 * grows cold; it is also how the system finds that they need two. On a busy machine looking only takes time from that thread: whoever
 * looks in vain there looks a quarter as often from then on.
 */
export function createLookout({ count, countRunning }: Processors = machine): Lookout {
  let pause = 0;
  let left = 0;
  let learntAt = 0;

  function findPause(isKnown: boolean): number {
    if (countRunning() <= count) return shortestPause;
    return Math.min((isKnown ? pause : 0) * 4 + shortestPause, longestPause);
  }

  return {
    isUseful() {
      if (count < 2) return false;
      if (left === 0 || now() - learntAt > memoryMs) return true;
      left -= 1;
      return false;
    },
    learn(isSeen) {
      const learntNow = now();
      pause = isSeen ? 0 : findPause(learntNow - learntAt <= memoryMs);
      left = pause;
      learntAt = learntNow;
    },
  };
}

/** The machine that this runs on. */
const machine: Processors = { count: availableParallelism(), countRunning };

/** Linux says how many threads run of how many: `0.00 0.01 0.05 2/123 4567`. */
function countRunning(): number {
  try {
    return Number.parseInt(readFileSync("/proc/loadavg", "utf8").split(" ")[3] ?? "", 10) || Infinity;
  } catch {
    return Infinity;
  }
}
