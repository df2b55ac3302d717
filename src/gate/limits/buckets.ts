import type { Rate } from "../gate.ts";

/** What one caller or address has left. */
export interface Bucket {
  left: number;
  at: number;
}

/** Counts by name: each may do `burst` things at once, and `perSecond` in the long run. */
export interface Buckets {
  find(name: string, nowMs: number): Bucket;
  /** Takes one; answers how long to wait if none is left, in milliseconds, and 0 if one was. */
  take(bucket: Bucket, nowMs: number): number;
  /** How long to wait until there is one; 0 if there is one now. */
  waitMs(bucket: Bucket, nowMs: number): number;
}

/** The most names that are counted: beyond it, the one that was found first is forgotten. */
const mostNames = 10_000;

/** Makes empty counts. */
export function createBuckets({ perSecond, burst }: Rate): Buckets {
  const byName = new Map<string, Bucket>();
  const perMs = perSecond / 1000;

  const refill = (bucket: Bucket, nowMs: number): void => {
    bucket.left = Math.min(burst, bucket.left + (nowMs - bucket.at) * perMs);
    bucket.at = nowMs;
  };
  const buckets: Buckets = {
    find(name, nowMs) {
      const found = byName.get(name);
      if (found) return found;
      if (byName.size >= mostNames) forgetOne(byName);
      const bucket = { left: burst, at: nowMs };
      byName.set(name, bucket);
      return bucket;
    },
    take(bucket, nowMs) {
      const wait = buckets.waitMs(bucket, nowMs);
      if (wait === 0) bucket.left -= 1;
      return wait;
    },
    waitMs(bucket, nowMs) {
      refill(bucket, nowMs);
      return bucket.left >= 1 ? 0 : Math.ceil((1 - bucket.left) / perMs);
    },
  };
  return buckets;
}

function forgetOne(byName: Map<string, Bucket>): void {
  for (const name of byName.keys()) {
    byName.delete(name);
    return;
  }
}

/** Counts wrong tokens, so that no client can try many. */
export interface Guesses {
  /** How long `network` must wait before another of its tokens is checked, in milliseconds; 0 if it need not wait. */
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
