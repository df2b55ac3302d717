import { expect, test, vi } from "vitest";

import { KitbagError, toFailure } from "../../core/errors.ts";
import type { KeyValueStore } from "../../core/store.ts";
import { memoryStore } from "../../store/memory-store.ts";
import { createLeaseWatch, leaseMs } from "../../platform/lease.ts";
import { claimOnce, reopenOnce } from "./once.ts";

const subject = { address: "send", user: "ada", key: "order-1" };
const options = { mayRunAgain: false, limitMs: 1000, keyMs: Infinity, watch: createLeaseWatch() };

test("reopenOnce() lets a use that failed happen again", async () => {
  const { kv } = memoryStore();
  await failOnce(kv);

  await reopenOnce(kv, subject);

  expect(await claimOnce(kv, { ...subject, input: {} }, options)).toMatchObject({ status: "run" });
});

test("reopenOnce() leaves a use alone that somebody else has changed in between", async () => {
  const { kv } = memoryStore();
  await failOnce(kv);
  const conflict = new KitbagError("store-conflict", { where: "once", expected: "version 2", found: "version 3" });

  await reopenOnce(refusing(kv, conflict), subject);

  expect(await claimOnce(kv, { ...subject, input: {} }, options)).toMatchObject({ status: "done" });
});

test("reopenOnce() rejects when the store fails", async () => {
  const { kv } = memoryStore();
  await failOnce(kv);

  await expect(reopenOnce(refusing(kv, new Error("the disk is full")), subject)).rejects.toThrow("the disk is full");
});

test("claimOnce() answers with an outcome that was written while it looked", async () => {
  const { kv } = memoryStore();
  await failOnce(kv);
  let looks = 0;
  const get: KeyValueStore["get"] = (key) => ((looks += 1) === 1 ? Promise.resolve(undefined) : kv.get(key));
  await new Promise(setImmediate);

  expect(await claimOnce({ ...kv, get }, { ...subject, input: {} }, options)).toMatchObject({ status: "done" });
  expect(await kv.list({ prefix: "lease:" })).toEqual([]);
});

test("claimOnce() leaves nothing behind that others would wait for when the store fails", async () => {
  const { kv } = memoryStore();
  const set: KeyValueStore["set"] = (key, ...rest) =>
    key.startsWith("once:") ? Promise.reject(new Error("disk full")) : kv.set(key, ...rest);

  await expect(claimOnce({ ...kv, set }, { ...subject, input: {} }, options)).rejects.toThrow("disk full");
  expect(await claimOnce(kv, { ...subject, input: {} }, options)).toMatchObject({ status: "run" });
});

test("claimOnce() knows that a process lives by the store's clock, whatever its own one says", async () => {
  let now = 1000;
  const { kv } = memoryStore({ now: () => now });
  await claimOnce(kv, { ...subject, input: {} }, { ...options, limitMs: Infinity });

  expect(await claimOnce(kv, { ...subject, input: {} }, options)).toEqual({ status: "wait" });
  now += leaseMs;
  expect(await claimOnce(kv, { ...subject, input: {} }, options)).toEqual({ status: "uncertain" });
  expect(await claimOnce(kv, { ...subject, input: {} }, { ...options, mayRunAgain: true })).toMatchObject({
    status: "run",
  });
});

test("finish() keeps the outcome of a use that took longer than it is known that it runs", async () => {
  let now = 1000;
  const { kv } = memoryStore({ now: () => now });
  const claim = await claimOnce(kv, { ...subject, input: {} }, { ...options, keyMs: 1000 });
  // Somebody was asked meanwhile: the lease is renewed, what is known of the use is not.
  now += 100_000;
  if (claim.status === "run") await claim.ticket.finish({ status: "ok", output: "paid" });

  expect(await claimOnce(kv, { ...subject, input: {} }, options)).toMatchObject({ status: "done" });
});

test.for(["finish", "giveUp"] as const)("%s() leaves a use to whoever took it over", async (method) => {
  let now = 1000;
  const { kv } = memoryStore({ now: () => now });
  const again = { ...options, mayRunAgain: true };
  const first = await claimOnce(kv, { ...subject, input: {} }, again);
  now += leaseMs;
  const second = await claimOnce(kv, { ...subject, input: {} }, again);
  if (first.status === "run") await first.ticket[method]({ status: "ok", output: "first" });
  if (second.status === "run") await second.ticket.finish({ status: "ok", output: "second" });

  expect(await claimOnce(kv, { ...subject, input: {} }, options)).toMatchObject({ outcome: { output: "second" } });
});

test("finish() and giveUp() reject when the store fails", async () => {
  const { kv } = memoryStore();
  let isFull = false;
  const set: KeyValueStore["set"] = (...given) => (isFull ? Promise.reject(new Error("disk full")) : kv.set(...given));
  const broken = { ...kv, set, delete: () => Promise.reject(new Error("disk full")) };
  const one = await claimOnce(broken, { ...subject, input: {} }, options);
  const two = await claimOnce(broken, { ...subject, key: "order-2", input: {} }, options);
  isFull = true;

  for (const [claim, method] of [
    [one, "finish"],
    [two, "giveUp"],
  ] as const) {
    if (claim.status !== "run") throw new Error(`The key is ${claim.status}`);
    await expect(claim.ticket[method]({ status: "ok", output: 1 })).rejects.toThrow("disk full");
  }
});

test("finish() rejects when the store fails as it is tried again", async () => {
  const { kv } = memoryStore();
  let sets = 0;
  const conflict = new KitbagError("store-conflict", { where: "once", expected: "version 2", found: "nothing" });
  const set: KeyValueStore["set"] = (...given) =>
    (sets += 1) < 3 ? kv.set(...given) : Promise.reject(sets === 3 ? conflict : new Error("disk full"));
  const claim = await claimOnce({ ...kv, set }, { ...subject, input: {} }, options);
  if (claim.status !== "run") throw new Error(`The key is ${claim.status}`);

  await expect(claim.ticket.finish({ status: "ok", output: 1 })).rejects.toThrow("disk full");
});

test("claimOnce() takes back what was written although the store said that it failed: nothing has begun", async () => {
  const { kv } = memoryStore();
  const set: KeyValueStore["set"] = async (key, ...rest) => {
    const version = await kv.set(key, ...rest);
    if (key.startsWith("once:")) throw new Error("the answer is lost");
    return version;
  };

  await expect(claimOnce({ ...kv, set }, { ...subject, input: {} }, options)).rejects.toThrow("lost");
  expect(await claimOnce(kv, { ...subject, input: {} }, options)).toMatchObject({ status: "run" });
});

test("claimOnce() takes a use of a dead process even if the clock of the store went back", async () => {
  vi.useFakeTimers();
  try {
    let now = 3_600_000;
    const { kv } = memoryStore({ now: () => now });
    const watch = createLeaseWatch();
    await claimOnce(kv, { ...subject, input: {} }, options);
    vi.clearAllTimers();
    now = 0;
    const early = await claimOnce(kv, { ...subject, input: {} }, { ...options, watch });
    await vi.advanceTimersByTimeAsync(leaseMs + 1);

    expect(early).toEqual({ status: "wait" });
    expect(await claimOnce(kv, { ...subject, input: {} }, { ...options, watch })).toEqual({ status: "uncertain" });
  } finally {
    vi.useRealTimers();
  }
});

/** Uses the key once, without success. */
async function failOnce(kv: KeyValueStore): Promise<void> {
  const claim = await claimOnce(kv, { ...subject, input: {} }, options);
  if (claim.status !== "run") throw new Error(`The key is ${claim.status}`);
  await claim.ticket.finish({ status: "failed", error: toFailure("tool-failed", { tool: "send", reason: "away" }) });
}

function refusing(kv: KeyValueStore, cause: Error): KeyValueStore {
  return { ...kv, delete: () => Promise.reject(cause) };
}
