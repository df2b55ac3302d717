import { createBuckets } from "../limits/buckets.ts";
import type { Rate } from "../gate.ts";

/** Counts wrong tokens, so that nobody can try many. */
export interface Guesses {
  /** How long `network` must wait before another token of it is looked at, in milliseconds; 0 if it need not. */
  waitMs(network: string, nowMs: number): number;
  /** Counts a wrong one. */
  note(network: string, nowMs: number): void;
  /** Remembers who came from a network, so that the guesses of others there do not lock them out. */
  remember(network: string, caller: string): void;
  isRemembered(network: string, caller: string): boolean;
}

/** The most networks whose callers are remembered. */
const mostNetworks = 1000;

/** Makes empty counts. */
export function createGuesses(rate: Rate): Guesses {
  const buckets = createBuckets(rate);
  // Most networks never send a wrong token, and then nothing is counted.
  const guessed = new Set<string>();
  const remembered = new Map<string, Set<string>>();

  return {
    waitMs(network, nowMs) {
      return guessed.has(network) ? buckets.waitMs(buckets.find(network, nowMs), nowMs) : 0;
    },
    note(network, nowMs) {
      if (guessed.size > 10 * mostNetworks) guessed.clear();
      guessed.add(network);
      buckets.take(buckets.find(network, nowMs), nowMs);
    },
    remember(network, caller) {
      const callers = remembered.get(network);
      if (callers !== undefined) {
        if (callers.size < mostNetworks) callers.add(caller);
      } else if (remembered.size < mostNetworks) remembered.set(network, new Set([caller]));
    },
    isRemembered: (network, caller) => remembered.get(network)?.has(caller) === true,
  };
}
