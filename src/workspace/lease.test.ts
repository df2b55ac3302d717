import { afterEach, beforeEach, expect, test, vi } from "vitest";

import type { KeyValueStore } from "../core/store.ts";
import { memoryStore } from "../store/memory-store.ts";
import { leaseMs, takeLease } from "./lease.ts";

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

/** A store that can be away. */
function switchable(kv: KeyValueStore): { isAway: boolean; readonly kv: KeyValueStore } {
  const set: KeyValueStore["set"] = (...given) => (state.isAway ? Promise.reject(new Error("gone")) : kv.set(...given));
  const state = { isAway: false, kv: { ...kv, set } };
  return state;
}
