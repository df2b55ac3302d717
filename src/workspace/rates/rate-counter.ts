import type { ToolRate } from "../../core/tool.ts";
import { maxMoments, toCounting, waitForMoment, withoutMoment } from "./moments.ts";

/** Counts the calls of each subject of one rate. A counter in memory answers at once, one in a store later. */
export interface RateCounter {
  /** Counts a call if the rate allows it, and answers 0; else how long until it may, in milliseconds. */
  take(subject: string, now: number): number | Promise<number>;
  /** Takes a call back that was counted and did not happen. */
  giveBack(subject: string, now: number): void | Promise<void>;
}

/** Makes a counter in memory. It forgets a subject when its calls do not count any more. */
export function createRateCounter(rate: ToolRate): RateCounter {
  if (rate.burst !== undefined) return createBucket(rate, rate.burst);
  return rate.calls > maxMoments ? createWindow(rate) : createExactWindow(rate);
}

function createExactWindow(rate: ToolRate): RateCounter {
  const { inMs } = rate;
  const recent = createRecentValues<readonly number[]>(inMs);
  const find = (subject: string, now: number): number[] => toCounting(recent.get(subject, now) ?? [], inMs, now);

  return {
    take(subject, now) {
      const counting = find(subject, now);
      const wait = waitForMoment(rate, counting, now);
      if (wait === 0) counting.push(now);
      recent.set(subject, counting, now);
      return wait;
    },
    giveBack(subject, now) {
      const left = withoutMoment(find(subject, now), now);
      if (left !== undefined) recent.set(subject, left, now);
    },
  };
}

/** How long until a window has room for one more, if `previous` and `current` were counted; 0 if it has. */
export function waitForWindow({ calls, inMs }: ToolRate, counts: WindowCounts): number {
  const { previous, current, elapsed } = counts;
  if (previous * (1 - elapsed / inMs) + current + 1 <= calls) return 0;
  const room = calls - 1;
  // What was counted in the window before weighs less from moment to moment; what is counted in this one from its end on.
  const wait = current <= room ? inMs * (1 - (room - current) / previous) - elapsed : waitForNext(current);
  return Math.max(1, Math.ceil(wait));

  function waitForNext(weight: number): number {
    return inMs - elapsed + inMs * (1 - room / weight);
  }
}

/** What was counted in two windows, and how much of the later one has passed. */
export interface WindowCounts {
  readonly previous: number;
  readonly current: number;
  readonly elapsed: number;
}

function createWindow(rate: ToolRate): RateCounter {
  const { inMs } = rate;
  let index = Number.NEGATIVE_INFINITY;
  let current = new Map<string, number>();
  let previous = new Map<string, number>();

  function turnTo(now: number): void {
    const next = Math.floor(now / inMs);
    // A clock that goes back a little still counts in the same window; else everything would be forgotten at its edge.
    if (next === index || next === index - 1) return;
    previous = next === index + 1 ? current : new Map();
    current = new Map();
    index = next;
  }

  return {
    take(subject, now) {
      turnTo(now);
      const count = current.get(subject) ?? 0;
      const counts = { previous: previous.get(subject) ?? 0, current: count, elapsed: Math.max(0, now - index * inMs) };
      const wait = waitForWindow(rate, counts);
      if (wait === 0) current.set(subject, count + 1);
      return wait;
    },
    giveBack(subject, now) {
      turnTo(now);
      current.set(subject, Math.max(0, (current.get(subject) ?? 0) - 1));
    },
  };
}

/** A bucket as one number: the time at which it would be full again. */
export interface Bucket {
  /** How long one call takes to come back. */
  readonly intervalMs: number;
  /** How far ahead of now that time may be. */
  readonly reachMs: number;
}

/** What a rate with a burst means for its buckets. */
export function toBucket({ calls, inMs }: ToolRate, burst: number): Bucket {
  const intervalMs = inMs / calls;
  return { intervalMs, reachMs: intervalMs * burst };
}

/** When a bucket would be full again that had been so at `before`, if one more call is taken from it. */
export function takeFrom({ intervalMs, reachMs }: Bucket, before: number, now: number): number {
  // No bucket is more than empty: what says so is of a clock that has gone back since.
  return Math.max(now, Math.min(before, now + reachMs)) + intervalMs;
}

function createBucket(rate: ToolRate, burst: number): RateCounter {
  const bucket = toBucket(rate, burst);
  const { intervalMs, reachMs } = bucket;
  // A bucket that nobody touched for as long as it takes to fill is full: it need not be remembered.
  const recent = createRecentValues<number>(reachMs);
  const fullAt = (subject: string, now: number): number => recent.get(subject, now) ?? 0;

  return {
    take(subject, now) {
      const full = takeFrom(bucket, fullAt(subject, now), now);
      const wait = Math.ceil(full - now - reachMs);
      if (wait > 0) return wait;
      recent.set(subject, full, now);
      return 0;
    },
    giveBack(subject, now) {
      recent.set(subject, fullAt(subject, now) - intervalMs, now);
    },
  };
}

/** Values by subject that are worth something for a while only. */
interface RecentValues<Value> {
  get(subject: string, now: number): Value | undefined;
  set(subject: string, value: Value, now: number): void;
}

/** Makes an empty list. A value that nobody has set for `keepMs` may be forgotten; until then it is there. */
function createRecentValues<Value>(keepMs: number): RecentValues<Value> {
  let young = new Map<string, Value>();
  let old = new Map<string, Value>();
  let turnedAt = Number.NEGATIVE_INFINITY;

  function turnTo(now: number): void {
    // The clock has gone back: everything is as old as it was.
    if (now < turnedAt) turnedAt = now;
    if (now - turnedAt < keepMs) return;
    old = young;
    young = new Map();
    turnedAt = now;
  }

  return {
    get(subject, now) {
      turnTo(now);
      return young.get(subject) ?? old.get(subject);
    },
    set(subject, value, now) {
      turnTo(now);
      young.set(subject, value);
    },
  };
}
