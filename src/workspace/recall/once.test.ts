import { expect, test } from "vitest";

import { KitbagError, toFailure } from "../../core/errors.ts";
import type { KeyValueStore } from "../../core/store.ts";
import { memoryStore } from "../../store/memory-store.ts";
import { claimOnce, reopenOnce } from "./once.ts";

const subject = { address: "send", user: "ada", key: "order-1" };
const options = { until: 2000, mayRunAgain: false, now: 1000, keyMs: Infinity };

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

/** Uses the key once, without success. */
async function failOnce(kv: KeyValueStore): Promise<void> {
  const claim = await claimOnce(kv, { ...subject, input: {} }, options);
  if (claim.status !== "run") throw new Error(`The key is ${claim.status}`);
  await claim.ticket.finish({ status: "failed", error: toFailure("tool-failed", { tool: "send", reason: "away" }) });
}

function refusing(kv: KeyValueStore, cause: Error): KeyValueStore {
  return { ...kv, delete: () => Promise.reject(cause) };
}
