import { createBuckets } from "../limits/buckets.ts";
import type { Rate } from "../gate.ts";

/** Counts wrong tokens, so that nobody can try many. */
export interface Guesses {
  /** How long `address` must wait before another token of it is looked at, in milliseconds; 0 if it need not. */
  waitMs(address: string, nowMs: number): number;
  /** Counts a wrong one. */
  note(address: string, nowMs: number): void;
  /** Remembers who came from an address, so that the guesses of others there do not lock them out. */
  remember(address: string, caller: string): void;
  isRemembered(address: string, caller: string): boolean;
}

/** The most addresses whose callers are remembered. */
const mostAddresses = 1000;

/** Makes empty counts. */
export function createGuesses(rate: Rate): Guesses {
  const buckets = createBuckets(rate);
  // Most addresses never send a wrong token, and then nothing is counted.
  const guessed = new Set<string>();
  const remembered = new Map<string, Set<string>>();

  return {
    waitMs(address, nowMs) {
      return guessed.has(address) ? buckets.waitMs(buckets.find(address, nowMs), nowMs) : 0;
    },
    note(address, nowMs) {
      if (guessed.size > 10 * mostAddresses) guessed.clear();
      guessed.add(address);
      buckets.take(buckets.find(address, nowMs), nowMs);
    },
    remember(address, caller) {
      const callers = remembered.get(address);
      if (callers !== undefined) {
        if (callers.size < mostAddresses) callers.add(caller);
      } else if (remembered.size < mostAddresses) remembered.set(address, new Set([caller]));
    },
    isRemembered: (address, caller) => remembered.get(address)?.has(caller) === true,
  };
}
