import { expect, test } from "vitest";

import { KitbagError, toFailure } from "../../core/errors.ts";
import type { KeyValueStore } from "../../core/store.ts";
import { memoryStore } from "../../store/memory-store.ts";
import { leaseMs } from "../lease.ts";
import { claimOnce, reopenOnce } from "./once.ts";

const subject = { address: "send", user: "ada", key: "order-1" };
const options = { mayRunAgain: false, limitMs: 1000, keyMs: Infinity };

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

/** Uses the key once, without success. */
async function failOnce(kv: KeyValueStore): Promise<void> {
  const claim = await claimOnce(kv, { ...subject, input: {} }, options);
  if (claim.status !== "run") throw new Error(`The key is ${claim.status}`);
  await claim.ticket.finish({ status: "failed", error: toFailure("tool-failed", { tool: "send", reason: "away" }) });
}

function refusing(kv: KeyValueStore, cause: Error): KeyValueStore {
  return { ...kv, delete: () => Promise.reject(cause) };
}
