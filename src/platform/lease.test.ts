import { afterEach, beforeEach, expect, test, vi } from "vitest";

import { KitbagError } from "../core/errors.ts";
import type { KeyValueStore } from "../core/store.ts";
import { memoryStore } from "../store/memory-store.ts";
import { createLeaseWatch, leaseMs, takeLease } from "./lease.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test("takeLease() gives a key to one at a time", async () => {
  const { kv } = memoryStore();
  const first = await takeLease(kv, "key");

  expect(await takeLease(kv, "key")).toBeUndefined();
  await first?.end();
  expect(await takeLease(kv, "key")).toBeDefined();
});

test("a lease lasts as long as its process, and not much longer", async () => {
  const { kv } = memoryStore({ now: Date.now });
  const leaving = switchable(kv);
  await takeLease(leaving.kv, "key");

  await vi.advanceTimersByTimeAsync(100 * leaseMs);
  expect(await takeLease(kv, "key")).toBeUndefined();
  leaving.isAway = true;
  await vi.advanceTimersByTimeAsync(leaseMs + 1);
  expect(await takeLease(kv, "key")).toBeDefined();
});

test("a lease survives a store that is away for a moment", async () => {
  const { kv } = memoryStore({ now: Date.now });
  const leaving = switchable(kv);
  await takeLease(leaving.kv, "key");
  leaving.isAway = true;
  await vi.advanceTimersByTimeAsync(leaseMs / 2);
  leaving.isAway = false;
  await vi.advanceTimersByTimeAsync(leaseMs);

  expect(await takeLease(kv, "key")).toBeUndefined();
});

test("a process that stood still takes its lease again, if nobody else has it", async () => {
  const { kv } = memoryStore({ now: Date.now });
  const lease = await takeLease(kv, "key");
  vi.setSystemTime(Date.now() + 2 * leaseMs);
  expect(await kv.get("key")).toBeUndefined();
  await vi.advanceTimersByTimeAsync(leaseMs / 2);

  expect(await takeLease(kv, "key")).toBeUndefined();
  await lease?.end();
  expect(await kv.get("key")).toBeUndefined();
});

test("a process that stood still leaves the lease to whoever took it, and takes it when that one is done", async () => {
  const { kv } = memoryStore({ now: Date.now });
  const first = await takeLease(kv, "key");
  vi.setSystemTime(Date.now() + 2 * leaseMs);
  const second = await takeLease(kv, "key");
  await vi.advanceTimersByTimeAsync(leaseMs);
  await second?.end();
  const between = await kv.get("key");
  await vi.advanceTimersByTimeAsync(leaseMs / 2);

  expect(between).toBeUndefined();
  expect(await kv.get("key")).toBeDefined();
  await first?.end();
  expect(await kv.get("key")).toBeUndefined();
});

test("end() does not take a lease from whoever has it now", async () => {
  const { kv } = memoryStore({ now: Date.now });
  const first = await takeLease(kv, "key");
  vi.setSystemTime(Date.now() + 2 * leaseMs);
  await takeLease(kv, "key");
  await vi.advanceTimersByTimeAsync(leaseMs / 2);
  await first?.end();

  expect(await kv.get("key")).toBeDefined();
});

test("takeLease() rejects when the store fails; end() never does", async () => {
  const { kv } = memoryStore();
  const lease = await takeLease({ ...kv, delete: () => Promise.reject(new Error("disk full")) }, "key");

  await expect(takeLease({ ...kv, set: () => Promise.reject(new Error("disk full")) }, "other")).rejects.toThrow(
    "disk",
  );
  await expect(lease?.end()).resolves.toBeUndefined();
});

test("what was written although the store said that it failed is taken back", async () => {
  const { kv } = memoryStore();
  let [isLost, looks] = [true, 0];
  const set: KeyValueStore["set"] = async (...given) => {
    await kv.set(...given);
    throw new Error("the answer is lost");
  };
  const get: KeyValueStore["get"] = (key) => ((looks += 1), isLost ? Promise.reject(new Error("gone")) : kv.get(key));

  await expect(takeLease({ ...kv, set, get }, "key")).rejects.toThrow("lost");
  await vi.advanceTimersByTimeAsync(1500);
  isLost = false;
  expect(await kv.get("key")).toBeDefined();
  await vi.advanceTimersByTimeAsync(1500);
  expect(await kv.get("key")).toBeUndefined();
  expect(looks).toBe(3);
});

test("what cannot be given back is tried again until it ends by itself, or the store is closed", async () => {
  const { kv } = memoryStore();
  const closed = new KitbagError("store-closed", { operation: "kv.get" });
  for (const [cause, most] of [
    [new Error("gone"), 15],
    [closed, 1],
  ] as const) {
    let tries = 0;
    const away = { delete: () => Promise.reject(cause), get: () => ((tries += 1), Promise.reject(cause)) };
    const lease = await takeLease({ ...kv, ...away }, `key ${most}`);
    await lease?.end();
    await vi.advanceTimersByTimeAsync(2 * leaseMs);

    expect(tries).toBe(most);
  }
});

test("a renewal whose answer is lost loses nothing", async () => {
  const { kv } = memoryStore({ now: Date.now });
  let isLost = false;
  const set: KeyValueStore["set"] = async (...given) => {
    const version = await kv.set(...given);
    if (isLost) throw new Error("the answer is lost");
    return version;
  };
  const lease = await takeLease({ ...kv, set }, "key");
  isLost = true;
  await vi.advanceTimersByTimeAsync(leaseMs / 2);
  isLost = false;
  await vi.advanceTimersByTimeAsync(leaseMs);
  const isHeld = lease?.isHeld();
  await lease?.end();

  expect(isHeld).toBe(true);
  expect(await kv.get("key")).toBeUndefined();
});

test("a lease that is not renewed is not held any more, whatever the store has", async () => {
  const { kv } = memoryStore();
  const leaving = switchable(kv);
  const lease = await takeLease(leaving.kv, "key");
  leaving.isAway = true;
  await vi.advanceTimersByTimeAsync(leaseMs - 1);
  const before = lease?.isHeld();
  await vi.advanceTimersByTimeAsync(2);

  expect([before, lease?.isHeld()]).toEqual([true, false]);
});

test("a watch takes for dead whoever has not renewed a lease for as long as it lasts", async () => {
  const watch = createLeaseWatch();
  const first = watch.isDead("key", 1);
  await vi.advanceTimersByTimeAsync(leaseMs);
  const renewed = watch.isDead("key", 2);
  await vi.advanceTimersByTimeAsync(leaseMs + 1);

  expect([first, renewed, watch.isDead("key", 2), watch.isDead("other", 2)]).toEqual([false, false, true, false]);
});

/** A store that can be away. */
function switchable(kv: KeyValueStore): { isAway: boolean; readonly kv: KeyValueStore } {
  const set: KeyValueStore["set"] = (...given) => (state.isAway ? Promise.reject(new Error("gone")) : kv.set(...given));
  const state = { isAway: false, kv: { ...kv, set } };
  return state;
}
