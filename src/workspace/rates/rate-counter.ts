import { hash } from "node:crypto";

import { isKitbagError } from "../../core/errors.ts";
import type { KeyValueStore } from "../../core/store.ts";
import type { ToolRate } from "../../core/tool.ts";
import type { RateLimit } from "./rate-limit.ts";

/** Counts the calls of each subject of one limit. */
export interface RateCounter {
  /** Counts a call if the limit allows it, and answers 0; else how long until it may, in milliseconds. */
  take(subject: string, now: number): Promise<number>;
  /** Takes a call back that was counted and did not happen. */
  giveBack(subject: string, now: number): Promise<void>;
}

/** Up to this many calls the moment of each is remembered, so that the limit holds exactly; above it only their number is. */
const maxMoments = 100;

/**
 * Makes a counter whose numbers are in a store, so that all processes that share it count together. The numbers need not be on disk
 * before a call begins: the record of its end takes them along.
 */
export function createRateCounter(kv: KeyValueStore, limit: RateLimit): RateCounter {
  if (limit.burst !== undefined) return createBucket(kv, limit, limit.burst);
  return limit.calls > maxMoments ? createWindow(kv, limit) : createExactWindow(kv, limit);
}

/** Names of users may be anything, and limits that differ count apart. */
function toKey({ per, of, calls, inMs, burst }: RateLimit, subject: string): string {
  return `rate:${hash("sha256", JSON.stringify([per, of, calls, inMs, burst, subject])).slice(0, 32)}`;
}

/** How many keys are remembered, so that what is there need not be read before each write. */
const maxRemembered = 10_000;

/** One change of the moments of a key. */
interface Change {
  readonly now: number;
  /** Makes the new moments of those that still count, or nothing if they may stay. Called again if another process was faster. */
  readonly make: (counting: readonly number[]) => readonly number[] | undefined;
  readonly done: () => void;
  readonly fail: (cause: unknown) => void;
}

/** The moments of a key, as this process saw them last. */
interface Seen {
  readonly version: number;
  readonly moments: readonly number[];
}

/** Remembers the moment of each call, so that the limit holds exactly. */
function createExactWindow(kv: KeyValueStore, limit: RateLimit): RateCounter {
  const { inMs, calls } = limit;
  const change = createMoments(kv, inMs);
  return {
    async take(subject, now) {
      let wait = 0;
      await change(toKey(limit, subject), now, (counting) => {
        const first = counting[counting.length - calls];
        wait = first === undefined ? 0 : Math.ceil(first + inMs - now);
        return wait === 0 ? [...counting, now] : undefined;
      });
      return wait;
    },
    giveBack: (subject, now) =>
      change(toKey(limit, subject), now, (counting) => {
        const index = counting.lastIndexOf(now);
        return index === -1 ? undefined : counting.toSpliced(index, 1);
      }),
  };
}

/** Makes what changes the moments of a key: one write for each change, or for all that come while another is being written. */
function createMoments(kv: KeyValueStore, inMs: number) {
  const waiting = new Map<string, Change[]>();
  let known = new Map<string, Seen>();

  async function writeAll(key: string, changes: Change[]): Promise<void> {
    while (changes.length > 0) {
      const batch = changes.splice(0);
      try {
        const seen = await writeMoments({ kv, key, inMs }, batch, known.get(key));
        if (known.size >= maxRemembered) known = new Map();
        known.set(key, seen);
        for (const { done } of batch) done();
      } catch (cause) {
        known.delete(key);
        for (const { fail } of batch) fail(cause);
      }
    }
    waiting.delete(key);
  }

  return (key: string, now: number, make: Change["make"]): Promise<void> =>
    new Promise((done, fail) => {
      const changes = waiting.get(key) ?? [];
      changes.push({ now, make, done, fail });
      if (waiting.has(key)) return;
      waiting.set(key, changes);
      void writeAll(key, changes);
    });
}

interface MomentsPlace {
  readonly kv: KeyValueStore;
  readonly key: string;
  readonly inMs: number;
}

async function writeMoments(place: MomentsPlace, batch: readonly Change[], before: Seen | undefined): Promise<Seen> {
  const { kv, key, inMs } = place;
  // When none of its moments counts any more, the key has expired.
  const isThere = before?.moments.some((moment) => moment > (batch[0] as Change).now - inMs) === true;
  let seen = isThere ? before : await readMoments(place, before);
  for (;;) {
    const { moments, isChanged } = applyAll(seen.moments, batch, inMs);
    if (!isChanged) return { version: seen.version, moments };
    try {
      const version = await kv.set(key, [...moments], { ifVersion: seen.version, expiresInMs: inMs, durable: false });
      return { version, moments };
    } catch (cause) {
      // Another process was faster: look again.
      if (!isKitbagError(cause, "store-conflict")) throw cause;
      seen = await readMoments(place, before);
    }
  }
}

async function readMoments({ kv, key }: MomentsPlace, before: Seen | undefined): Promise<Seen> {
  const found = await kv.get(key);
  // Its moments lie ahead because the clock has gone back: this process knows since when.
  if (before !== undefined && found?.version === before.version) return before;
  return { version: found?.version ?? 0, moments: Array.isArray(found?.value) ? (found.value as number[]) : [] };
}

/** The moments after all changes, one after the other. */
function applyAll(before: readonly number[], changes: readonly Change[], inMs: number): Moments {
  let moments = before;
  let isChanged = false;
  for (const { now, make } of changes) {
    // A moment later than now comes from a clock that has gone back since.
    const counting = moments.map((moment) => Math.min(moment, now)).filter((moment) => moment > now - inMs);
    const made = make(counting);
    isChanged ||= made !== undefined;
    moments = made ?? counting;
  }
  return { moments, isChanged };
}

interface Moments {
  readonly moments: readonly number[];
  readonly isChanged: boolean;
}

/** Counts the calls of a fixed window and estimates how many of those of the window before still weigh. */
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

  const add = (key: string, index: number, by: number): Promise<number> =>
    kv.increment(`${key}:${index}`, by, { expiresInMs: 2 * inMs, durable: false });

  return {
    async take(subject, now) {
      const key = toKey(limit, subject);
      const index = Math.floor(now / inMs);
      const [previous, count] = await Promise.all([countBefore(`${key}:${index - 1}`), add(key, index, 1)]);
      const wait = waitForWindow(limit, { previous, current: count - 1, elapsed: now - index * inMs });
      // Counted before it is known whether it may go: one step for the calls that may, which are nearly all.
      if (wait > 0) await add(key, index, -1);
      return wait;
    },
    async giveBack(subject, now) {
      await add(toKey(limit, subject), Math.floor(now / inMs), -1);
    },
  };
}

/** What was counted in two windows, and how much of the later one has passed. */
interface WindowCounts {
  readonly previous: number;
  readonly current: number;
  readonly elapsed: number;
}

/** How long until a window has room for one more; 0 if it has. */
function waitForWindow({ calls, inMs }: ToolRate, { previous, current, elapsed }: WindowCounts): number {
  if (previous * (1 - elapsed / inMs) + current + 1 <= calls) return 0;
  const room = calls - 1;
  // The window before weighs less from moment to moment; this one does so from its end on.
  const wait =
    current <= room ? inMs * (1 - (room - current) / previous) - elapsed : inMs - elapsed + inMs * (1 - room / current);
  return Math.max(1, Math.ceil(wait));
}

/** Keeps a bucket as one number: the time at which it would be full again. */
function createBucket(kv: KeyValueStore, limit: RateLimit, burst: number): RateCounter {
  /** How long one call takes to come back, and how far ahead of now the bucket may be full. */
  const intervalMs = limit.inMs / limit.calls;
  const reachMs = intervalMs * burst;
  const expiresInMs = Math.ceil(reachMs + intervalMs);

  /** Writes the time that `make` makes of the one that is there, unless it makes none. */
  async function change(subject: string, make: (fullAt: number) => number | undefined): Promise<void> {
    const key = toKey(limit, subject);
    for (;;) {
      const found = await kv.get(key);
      const fullAt = make(typeof found?.value === "number" ? found.value : 0);
      if (fullAt === undefined) return;
      try {
        await kv.set(key, fullAt, { ifVersion: found?.version ?? 0, expiresInMs, durable: false });
        return;
      } catch (cause) {
        // Another call was faster: look again.
        if (!isKitbagError(cause, "store-conflict")) throw cause;
      }
    }
  }

  return {
    async take(subject, now) {
      let wait = 0;
      await change(subject, (before) => {
        // No bucket is more than empty: a time further ahead comes from a clock that has gone back since.
        const fullAt = Math.max(now, Math.min(before, now + reachMs)) + intervalMs;
        wait = Math.max(0, Math.ceil(fullAt - now - reachMs));
        return wait > 0 ? undefined : fullAt;
      });
      return wait;
    },
    giveBack: (subject) => change(subject, (fullAt) => fullAt - intervalMs),
  };
}
