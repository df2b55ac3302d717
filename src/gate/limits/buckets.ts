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
