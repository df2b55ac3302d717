import assert from "node:assert/strict";

import type { ListOptions, LogStore } from "../../core/store.ts";
import { notWhole, oddKeys, rejectsWith, wrongKeys, type StoreChecks } from "./store-check.ts";

/** Which streams `log.streams` finds, and in which order. */
export const streamsChecks: StoreChecks = {
  async "log.streams() answers with the names of the streams that have an entry, once each"({ log }) {
    assert.deepEqual(await log.streams(), []);
    await log.append("b", [1]);
    await log.append("a", [1, 2]);
    await log.append("b", [2]);
    await log.append("empty", []);
    await rejectsWith("store-conflict", () => log.append("refused", [1], { expectedPosition: 5 }));

    assert.deepEqual(await log.streams(), ["a", "b"]);
  },

  async "log.streams() sorts by code points"({ log }) {
    const sorted = ["A", "B", "a", "a\u0001", "aa", "b", "\u00E9", "\uE000", "\uFFFF", "\u{10000}", "\u{1F600}"];
    await appendAll(log, sorted.toReversed());

    assert.deepEqual(await log.streams(), sorted);
  },

  async "log.streams() finds a prefix, whatever characters it has"({ log }) {
    await appendAll(log, [...oddKeys, "run:1", "run:2", "run;", "run"]);

    assert.deepEqual(await log.streams({ prefix: "run:" }), ["run:1", "run:2"]);
    for (const prefix of oddKeys) {
      const found = await log.streams({ prefix });
      assert.ok(found.includes(prefix), JSON.stringify(prefix));
      assert.deepEqual(
        found.filter((name) => !name.startsWith(prefix)),
        [],
      );
    }
    assert.deepEqual(await log.streams({ prefix: "\u{10FFFF}" }), []);
    assert.deepEqual(await log.streams({ prefix: "nothing" }), []);
  },

  async "log.streams() gives pages that have every name once"({ log }) {
    const all = Array.from({ length: 25 }, (_, index) => `run:${String(index).padStart(2, "0")}`);
    await appendAll(log, ["a", ...all.toReversed(), "z"]);

    const found: string[] = [];
    for (let page = 0; page < 4; page++) {
      const options: ListOptions = { prefix: "run:", limit: 10, after: found.at(-1) ?? "" };
      found.push(...(await log.streams(options)));
    }

    assert.deepEqual(found, all);
    assert.deepEqual(await log.streams({ limit: 0 }), []);
    assert.deepEqual(await log.streams({ after: "run:235" }), ["run:24", "z"]);
  },

  async "log.streams() refuses wrong options, and rejects once the store is closed"(store) {
    const { log } = store;
    for (const wrong of wrongKeys) {
      if (wrong === "" || wrong === undefined) continue;
      await rejectsWith("store-key-invalid", () => log.streams({ prefix: wrong as string }));
      await rejectsWith("store-key-invalid", () => log.streams({ after: wrong as string }));
    }
    for (const wrong of notWhole) await rejectsWith("option-invalid", () => log.streams({ limit: wrong as number }));
    await store.close();

    await rejectsWith("store-closed", () => log.streams());
  },
};

/** Which blobs `blobs.list` finds, and in which order. */
export const digestsChecks: StoreChecks = {
  async "blobs.list() answers with the digests of all blobs, in order"({ blobs }) {
    assert.deepEqual(await blobs.list(), []);
    const digests: string[] = [];
    for (const text of ["a", "b", "c", "d", "a"]) digests.push(await blobs.put(Buffer.from(text)));

    assert.deepEqual(await blobs.list(), [...new Set(digests)].toSorted());
  },

  async "blobs.list() forgets what was collected, and knows nothing of what failed on the way"({ blobs }) {
    const kept = await blobs.put(Buffer.from("kept"));
    await blobs.put(Buffer.from("collected"));
    const failing = blobs.put(
      (async function* () {
        yield Buffer.from("half");
        throw new Error("the source failed");
      })(),
    );
    await assert.rejects(failing);
    await blobs.collect(new Set([kept]));

    assert.deepEqual(await blobs.list(), [kept]);
  },

  async "blobs.list() gives pages that have every digest once"({ blobs }) {
    const all: string[] = [];
    for (let index = 0; index < 12; index++) all.push(await blobs.put(Buffer.from(String(index))));

    const found: string[] = [];
    for (let page = 0; page < 4; page++) found.push(...(await blobs.list({ limit: 5, after: found.at(-1) ?? "" })));

    assert.deepEqual(found, all.toSorted());
    assert.deepEqual(await blobs.list({ limit: 0 }), []);
    assert.deepEqual(await blobs.list({ after: "sha256:zzz" }), []);
  },

  async "blobs.list() refuses wrong options, and rejects once the store is closed"(store) {
    const { blobs } = store;
    for (const wrong of notWhole) await rejectsWith("option-invalid", () => blobs.list({ limit: wrong as number }));
    await rejectsWith("store-key-invalid", () => blobs.list({ after: 5 as unknown as string }));
    await store.close();

    await rejectsWith("store-closed", () => blobs.list());
  },
};

async function appendAll(log: LogStore, names: readonly string[]): Promise<void> {
  await Promise.all(names.map((name) => log.append(name, [1])));
}
