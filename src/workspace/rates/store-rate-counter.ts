import { hash } from "node:crypto";

import { isKitbagError } from "../../core/errors.ts";
import type { KeyValueStore } from "../../core/store.ts";
import { maxMoments } from "./moments.ts";
import { takeFrom, toBucket, waitForWindow, type RateCounter } from "./rate-counter.ts";
import type { RateLimit } from "./rate-limit.ts";
import { createStoreMoments } from "./store-moments.ts";

/**
 * Makes a counter whose numbers are in a store, so that all processes that share it count together. They need not be on disk before a
 * call begins: the record of its end takes them along.
 */
export function createStoreRateCounter(kv: KeyValueStore, limit: RateLimit): RateCounter {
  if (limit.burst !== undefined) return createBucket(kv, limit, limit.burst);
  return limit.calls > maxMoments ? createWindow(kv, limit) : createExactWindow(kv, limit);
}

/** The names of users may be anything, and limits that differ count apart. */
function toPrefix({ per, of, calls, inMs, burst }: RateLimit, subject: string): string {
  return `rate:${hash("sha256", JSON.stringify([per, of, calls, inMs, burst, subject])).slice(0, 32)}`;
}

function createExactWindow(kv: KeyValueStore, limit: RateLimit): RateCounter {
  const { take, giveBack } = createStoreMoments(kv, limit);
  return {
    take: (subject, now) => take(toPrefix(limit, subject), now),
    giveBack: (subject, now) => giveBack(toPrefix(limit, subject), now),
  };
}

/** How many windows before are remembered, so that each is read once. */
const maxRemembered = 10_000;

function createWindow(kv: KeyValueStore, limit: RateLimit): RateCounter {
  const { inMs } = limit;
  /** By key: a window that is over does not change any more. */
  let over = new Map<string, number>();

  async function countBefore(key: string): Promise<number> {
    const known = over.get(key);
    if (known !== undefined) return known;
    const found = await kv.get(key);
    const count = typeof found?.value === "number" ? found.value : 0;
    if (over.size >= maxRemembered) over = new Map();
    over.set(key, count);
    return count;
  }

  const add = (prefix: string, index: number, by: number): Promise<number> =>
    kv.increment(`${prefix}:${index}`, by, { expiresInMs: 2 * inMs, durable: false });

  return {
    async take(subject, now) {
      const prefix = toPrefix(limit, subject);
      const index = Math.floor(now / inMs);
      const [previous, count] = await Promise.all([countBefore(`${prefix}:${index - 1}`), add(prefix, index, 1)]);
      const wait = waitForWindow(limit, { previous, current: count - 1, elapsed: now - index * inMs });
      // Counted before it was known whether it may: one step for the calls that may, which are nearly all.
      if (wait > 0) await add(prefix, index, -1);
      return wait;
    },
    async giveBack(subject, now) {
      await add(toPrefix(limit, subject), Math.floor(now / inMs), -1);
    },
  };
}

function createBucket(kv: KeyValueStore, limit: RateLimit, burst: number): RateCounter {
  const bucket = toBucket(limit, burst);
  const { intervalMs, reachMs } = bucket;
  const expiresInMs = Math.ceil(reachMs + intervalMs);

  /** Writes the time that `change` makes of the one that is there, unless it makes none. */
  async function move(subject: string, change: (full: number) => number | undefined): Promise<void> {
    const key = toPrefix(limit, subject);
    for (;;) {
      const found = await kv.get(key);
      const full = change(typeof found?.value === "number" ? found.value : 0);
      if (full === undefined) return;
      try {
        await kv.set(key, full, { ifVersion: found?.version ?? 0, expiresInMs, durable: false });
        return;
      } catch (cause) {
        // Somebody else was faster: look again.
        if (!isKitbagError(cause, "store-conflict")) throw cause;
      }
    }
  }

  return {
    async take(subject, now) {
      let wait = 0;
      await move(subject, (before) => {
        const full = takeFrom(bucket, before, now);
        wait = Math.max(0, Math.ceil(full - now - reachMs));
        return wait > 0 ? undefined : full;
      });
      return wait;
    },
    giveBack: (subject) => move(subject, (full) => full - intervalMs),
  };
}
