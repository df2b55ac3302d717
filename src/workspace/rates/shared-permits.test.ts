import { setTimeout as sleep } from "node:timers/promises";

import { afterEach, expect, test, vi } from "vitest";

import { KitbagError } from "../../core/errors.ts";
import type { KeyValueStore } from "../../core/store.ts";
import { memoryStore } from "../../store/memory-store.ts";
import { leaseMs } from "../../platform/lease.ts";
import { createSharedPermits, type SharedPermits } from "./shared-permits.ts";

afterEach(() => void vi.useRealTimers());

test("all who share a store have so many places together", async () => {
  const { kv } = memoryStore();
  const [one, two] = [open(kv, 3), open(kv, 3)];
  one.permits.need(0, 2);
  await until(() => one.permits.size() === 2);
  two.permits.need(0, 2);
  await until(() => two.permits.size() === 1);

  expect(await kv.list({ prefix: "place:" })).toHaveLength(3);
});

test("what is not needed is given back, and nothing is left behind", async () => {
  const { kv } = memoryStore();
  const { permits } = open(kv, 10);
  permits.need(0, 4);
  await until(() => permits.size() === 4);
  permits.need(1, 1);
  const fewer = permits.size();
  permits.need(0, 0);

  expect(fewer).toBe(2);
  expect(permits.size()).toBe(0);
  await expect.poll(() => kv.list()).toEqual([]);
});

test("a place that comes when nobody wants it any more is given back by whoever hears of it", async () => {
  const { kv } = memoryStore();
  const { permits } = open(kv, 1);
  permits.need(0, 1);
  permits.need(0, 0);

  await expect.poll(() => kv.list()).toEqual([]);
  expect(permits.size()).toBe(0);
});

test("who has more than a fair share leaves it to others who wait", async () => {
  const { kv } = memoryStore();
  const [one, two] = [open(kv, 4), open(kv, 4)];
  one.permits.need(0, 10);
  await until(() => one.permits.size() === 4);
  two.permits.need(0, 10);
  // Calls end all the time, and others begin.
  await until(() => {
    one.permits.need(Math.max(0, one.permits.size() - 1), 10);
    two.permits.need(two.permits.size(), 10);
    return one.permits.size() === 2 && two.permits.size() === 2;
  });

  expect(await kv.list({ prefix: "place:" })).toHaveLength(4);
});

test("those who are more than the places take turns", async () => {
  const { kv } = memoryStore();
  const members = [open(kv, 1), open(kv, 1)];
  const turns: number[] = [];
  for (const { permits } of members) permits.need(0, 5);
  await until(() => {
    for (const [index, { permits }] of members.entries()) {
      if (permits.size() > 0 && turns.at(-1) !== index) turns.push(index);
      permits.need(0, 5);
    }
    return turns.length >= 4;
  });

  expect(new Set(turns).size).toBe(2);
});

test("grow() gets a place that is free, and keeps it for whoever asked", async () => {
  const { kv } = memoryStore();
  const [one, two] = [open(kv, 1), open(kv, 1)];
  const release = await one.permits.grow();
  one.permits.need(0, 0);
  const kept = one.permits.size();
  (await two.permits.grow())();
  release();
  one.permits.need(0, 0);

  expect([kept, one.permits.size(), two.permits.size()]).toEqual([1, 0, 0]);
});

test("grow() rejects when the store fails, and takes no more than there may be", async () => {
  const { kv } = memoryStore();
  const broken = open({ ...kv, set: () => Promise.reject(new Error("disk full")) }, 1);
  const { permits } = open(kv, 1);
  await permits.grow();
  await permits.grow();

  await expect(broken.permits.grow()).rejects.toThrow("disk full");
  expect(permits.size()).toBe(1);
});

test("whoever waits hears that the store fails, at once or when it is away for too long", async () => {
  const { kv } = memoryStore();
  const broken = open({ ...kv, set: () => Promise.reject(new Error("disk full")) }, 1);
  broken.permits.need(0, 1);
  await until(() => broken.failures.length > 0);
  vi.useFakeTimers();
  const away = new KitbagError("store-unavailable", { store: "x", reason: "away", mayBeWritten: false } as never);
  const gone = open({ ...kv, set: () => Promise.reject(away) }, 1);
  gone.permits.need(0, 1);
  await vi.advanceTimersByTimeAsync(4000);
  const early = gone.failures.length;
  await vi.advanceTimersByTimeAsync(2000);

  expect(broken.failures).toMatchObject([{ message: "disk full" }]);
  expect([early, gone.failures]).toEqual([0, [away]]);
});

test("whoever waits for several hears that none can be taken", async () => {
  const { kv } = memoryStore();
  const { permits, failures } = open({ ...kv, set: () => Promise.reject(new Error("disk full")) }, 5);
  permits.need(0, 3);
  await until(() => failures.length > 0);

  expect(failures).toMatchObject([{ message: "disk full" }]);
});

test("some places are better than none when the store fails in between", async () => {
  const { kv } = memoryStore();
  let sets = 0;
  const set: KeyValueStore["set"] = (...given) =>
    (sets += 1) === 2 ? Promise.reject(new Error("disk full")) : kv.set(...given);
  const { permits, failures } = open({ ...kv, set }, 3);
  permits.need(0, 3);

  await until(() => permits.size() === 3);
  expect(failures).toEqual([]);
});

test("a process that stood still has no place that another one may have", async () => {
  vi.useFakeTimers();
  const { kv } = memoryStore({ now: Date.now });
  const leaving = { isAway: false };
  const set: KeyValueStore["set"] = (...given) =>
    leaving.isAway ? Promise.reject(new Error("gone")) : kv.set(...given);
  const { permits } = open({ ...kv, set }, 2);
  permits.need(0, 2);
  await vi.advanceTimersByTimeAsync(100);
  leaving.isAway = true;
  permits.need(2, 0);
  await vi.advanceTimersByTimeAsync(leaseMs + 1);
  const lost = permits.size();
  leaving.isAway = false;
  permits.need(1, 0);
  await vi.advanceTimersByTimeAsync(leaseMs);

  expect(lost).toBe(0);
  expect(permits.size()).toBe(1);
});

test("the place of a dead process is taken even if the clock of the store went back", async () => {
  vi.useFakeTimers();
  const { kv } = memoryStore({ now: Date.now });
  await kv.set(`place:${"0".repeat(3)}`, true);
  const dead = open(kv, 1);
  dead.permits.need(0, 1);
  await vi.advanceTimersByTimeAsync(10);
  const [[key] = [""]] = await kv.list({ prefix: "place:", after: "place:000" });
  // Nobody renews it, and it does not expire either.
  vi.clearAllTimers();
  await kv.set(key, "somebody", { expiresInMs: 3_600_000 });
  const { permits } = open(kv, 1);
  permits.need(0, 1);
  await vi.advanceTimersByTimeAsync(leaseMs - 1000);
  const early = permits.size();
  await vi.advanceTimersByTimeAsync(2000);

  expect([early, permits.size()]).toEqual([0, 1]);
});

test("a process with a smaller limit counts only the places that it knows", async () => {
  const { kv } = memoryStore();
  const wide = open(kv, 20);
  wide.permits.need(0, 20);
  await until(() => wide.permits.size() === 20);
  const { permits } = open(kv, 3);
  await permits.grow();

  expect(permits.size()).toBe(0);
});

interface OpenedSupply {
  readonly permits: SharedPermits;
  readonly failures: unknown[];
}

/** A permits of another process, whose places are wanted until it says otherwise. */
function open(kv: KeyValueStore, max: number): OpenedSupply {
  const failures: unknown[] = [];
  let last: [number, number] = [0, 0];
  const permits = createSharedPermits(kv)("tool:print", max, {
    onMore: () => permits.need(...last),
    onFailed: (cause) => failures.push(cause),
  });
  const need = (used: number, wanted: number): void => {
    last = [used, wanted];
    permits.need(used, wanted);
  };
  return { permits: { max, need, size: () => permits.size(), grow: () => permits.grow() }, failures };
}

/** Waits until something is so. */
async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await sleep(5);
}
