import { availableParallelism } from "node:os";

/** Looks at shared memory until it changes, without letting go of the processor. */
export interface Lookout {
  /** Tells whether a number in `memory` has become another than `value`; gives up after a moment, or at once where it is of no use. */
  see(memory: Int32Array, index: number, value: number): boolean;
}

/** To be woken takes nearly as long as this, and longer still until everything is in the caches again. */
const longestMs = 0.15;
/** What it costs to look in vain, in times that it was of use; and how much of that can be saved up. */
const priceOfMiss = 3;
const mostCredit = 9;
/** For how many times it is left when there is no credit any more: twice as many each time. */
const leastPause = 8;
const longestPause = 64;
/** How the machine was before this says nothing about how it is. */
const memoryMs = 10;
/** How often to look before the clock is read. */
const looks = 50;

/**
 * Makes a lookout. On a machine with nothing else to do, what it waits for happens meanwhile in another thread. On one that is busy
 * it only takes time from that thread, so whoever looks in vain looks less.
 */
export function createLookout(): Lookout {
  const isUseful = availableParallelism() > 1;
  let credit = mostCredit;
  let pause = leastPause;
  let pausedFor = 0;
  let lastAt = 0;

  function forgetOld(now: number): void {
    if (now - lastAt > memoryMs) [credit, pause, pausedFor] = [mostCredit, leastPause, 0];
    lastAt = now;
  }

  function learn(isSeen: boolean): void {
    credit = isSeen ? Math.min(credit + 1, mostCredit) : credit - priceOfMiss;
    if (credit === mostCredit) pause = leastPause;
    if (credit >= 0) return;
    [credit, pausedFor] = [0, pause];
    pause = Math.min(pause * 2, longestPause);
  }

  return {
    see(memory, index, value) {
      if (!isUseful) return false;
      const now = performance.now();
      forgetOld(now);
      if (pausedFor > 0) {
        pausedFor -= 1;
        return false;
      }
      const isSeen = lookAt(memory, index, value, now + longestMs);
      learn(isSeen);
      return isSeen;
    },
  };
}

function lookAt(memory: Int32Array, index: number, value: number, until: number): boolean {
  do {
    for (let look = 0; look < looks; look += 1) {
      if (Atomics.load(memory, index) !== value) return true;
    }
  } while (performance.now() < until);
  return false;
}
