import { setTimeout as sleep } from "node:timers/promises";

import { afterEach, expect, test, vi } from "vitest";

import { KitbagError } from "../../core/errors.ts";
import type { KeyValueStore } from "../../core/store.ts";
import { memoryStore } from "../../store/memory-store.ts";
import { leaseMs } from "../../platform/lease.ts";
import { createSupplies, type Supply } from "./supply.ts";

afterEach(() => void vi.useRealTimers());

test("all who share a store have so many places together", async () => {
  const { kv } = memoryStore();
  const [one, two] = [open(kv, 3), open(kv, 3)];
  one.supply.need(0, 2);
  await until(() => one.supply.size() === 2);
  two.supply.need(0, 2);
  await until(() => two.supply.size() === 1);

  expect(await kv.list({ prefix: "place:" })).toHaveLength(3);
});

test("what is not needed is given back, and nothing is left behind", async () => {
  const { kv } = memoryStore();
  const { supply } = open(kv, 10);
  supply.need(0, 4);
  await until(() => supply.size() === 4);
  supply.need(1, 1);
  const fewer = supply.size();
  supply.need(0, 0);

  expect(fewer).toBe(2);
  expect(supply.size()).toBe(0);
  await expect.poll(() => kv.list()).toEqual([]);
});

test("a place that comes when nobody wants it any more is given back by whoever hears of it", async () => {
  const { kv } = memoryStore();
  const { supply } = open(kv, 1);
  supply.need(0, 1);
  supply.need(0, 0);

  await expect.poll(() => kv.list()).toEqual([]);
  expect(supply.size()).toBe(0);
});

test("who has more than a fair share leaves it to others who wait", async () => {
  const { kv } = memoryStore();
  const [one, two] = [open(kv, 4), open(kv, 4)];
  one.supply.need(0, 10);
  await until(() => one.supply.size() === 4);
  two.supply.need(0, 10);
  // Calls end all the time, and others begin.
  await until(() => {
    one.supply.need(Math.max(0, one.supply.size() - 1), 10);
    two.supply.need(two.supply.size(), 10);
    return one.supply.size() === 2 && two.supply.size() === 2;
  });

  expect(await kv.list({ prefix: "place:" })).toHaveLength(4);
});

test("those who are more than the places take turns", async () => {
  const { kv } = memoryStore();
  const members = [open(kv, 1), open(kv, 1)];
  const turns: number[] = [];
  for (const { supply } of members) supply.need(0, 5);
  await until(() => {
    for (const [index, { supply }] of members.entries()) {
      if (supply.size() > 0 && turns.at(-1) !== index) turns.push(index);
      supply.need(0, 5);
    }
    return turns.length >= 4;
  });

  expect(new Set(turns).size).toBe(2);
});

test("grow() gets a place that is free, and keeps it for whoever asked", async () => {
  const { kv } = memoryStore();
  const [one, two] = [open(kv, 1), open(kv, 1)];
  const release = await one.supply.grow();
  one.supply.need(0, 0);
  const kept = one.supply.size();
  (await two.supply.grow())();
  release();
  one.supply.need(0, 0);

  expect([kept, one.supply.size(), two.supply.size()]).toEqual([1, 0, 0]);
});

test("grow() rejects when the store fails, and takes no more than there may be", async () => {
  const { kv } = memoryStore();
  const broken = open({ ...kv, set: () => Promise.reject(new Error("disk full")) }, 1);
  const { supply } = open(kv, 1);
  await supply.grow();
  await supply.grow();

  await expect(broken.supply.grow()).rejects.toThrow("disk full");
  expect(supply.size()).toBe(1);
});

test("whoever waits hears that the store fails, at once or when it is away for too long", async () => {
  const { kv } = memoryStore();
  const broken = open({ ...kv, set: () => Promise.reject(new Error("disk full")) }, 1);
  broken.supply.need(0, 1);
  await until(() => broken.failures.length > 0);
  vi.useFakeTimers();
  const away = new KitbagError("store-unavailable", { store: "x", reason: "away", mayBeWritten: false } as never);
  const gone = open({ ...kv, set: () => Promise.reject(away) }, 1);
  gone.supply.need(0, 1);
  await vi.advanceTimersByTimeAsync(4000);
  const early = gone.failures.length;
  await vi.advanceTimersByTimeAsync(2000);

  expect(broken.failures).toMatchObject([{ message: "disk full" }]);
  expect([early, gone.failures]).toEqual([0, [away]]);
});

test("whoever waits for several hears that none can be taken", async () => {
  const { kv } = memoryStore();
  const { supply, failures } = open({ ...kv, set: () => Promise.reject(new Error("disk full")) }, 5);
  supply.need(0, 3);
  await until(() => failures.length > 0);

  expect(failures).toMatchObject([{ message: "disk full" }]);
});

test("some places are better than none when the store fails in between", async () => {
  const { kv } = memoryStore();
  let sets = 0;
  const set: KeyValueStore["set"] = (...given) =>
    (sets += 1) === 2 ? Promise.reject(new Error("disk full")) : kv.set(...given);
  const { supply, failures } = open({ ...kv, set }, 3);
  supply.need(0, 3);

  await until(() => supply.size() === 3);
  expect(failures).toEqual([]);
});

test("a process that stood still has no place that another one may have", async () => {
  vi.useFakeTimers();
  const { kv } = memoryStore({ now: Date.now });
  const leaving = { isAway: false };
  const set: KeyValueStore["set"] = (...given) =>
    leaving.isAway ? Promise.reject(new Error("gone")) : kv.set(...given);
  const { supply } = open({ ...kv, set }, 2);
  supply.need(0, 2);
  await vi.advanceTimersByTimeAsync(100);
  leaving.isAway = true;
  supply.need(2, 0);
  await vi.advanceTimersByTimeAsync(leaseMs + 1);
  const lost = supply.size();
  leaving.isAway = false;
  supply.need(1, 0);
  await vi.advanceTimersByTimeAsync(leaseMs);

  expect(lost).toBe(0);
  expect(supply.size()).toBe(1);
});

test("the place of a dead process is taken even if the clock of the store went back", async () => {
  vi.useFakeTimers();
  const { kv } = memoryStore({ now: Date.now });
  await kv.set(`place:${"0".repeat(3)}`, true);
  const dead = open(kv, 1);
  dead.supply.need(0, 1);
  await vi.advanceTimersByTimeAsync(10);
  const [[key] = [""]] = await kv.list({ prefix: "place:", after: "place:000" });
  // Nobody renews it, and it does not expire either.
  vi.clearAllTimers();
  await kv.set(key, "somebody", { expiresInMs: 3_600_000 });
  const { supply } = open(kv, 1);
  supply.need(0, 1);
  await vi.advanceTimersByTimeAsync(leaseMs - 1000);
  const early = supply.size();
  await vi.advanceTimersByTimeAsync(2000);

  expect([early, supply.size()]).toEqual([0, 1]);
});

test("a process with a smaller limit counts only the places that it knows", async () => {
  const { kv } = memoryStore();
  const wide = open(kv, 20);
  wide.supply.need(0, 20);
  await until(() => wide.supply.size() === 20);
  const { supply } = open(kv, 3);
  await supply.grow();

  expect(supply.size()).toBe(0);
});

interface OpenedSupply {
  readonly supply: Supply;
  readonly failures: unknown[];
}

/** A supply of another process, whose places are wanted until it says otherwise. */
function open(kv: KeyValueStore, max: number): OpenedSupply {
  const failures: unknown[] = [];
  let last: [number, number] = [0, 0];
  const supply = createSupplies(kv)("tool:print", max, {
    onMore: () => supply.need(...last),
    onFailed: (cause) => failures.push(cause),
  });
  const need = (used: number, wanted: number): void => {
    last = [used, wanted];
    supply.need(used, wanted);
  };
  return { supply: { max, need, size: () => supply.size(), grow: () => supply.grow() }, failures };
}

/** Waits until something is so. */
async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await sleep(5);
}
