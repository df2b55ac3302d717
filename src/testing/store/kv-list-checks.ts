import assert from "node:assert/strict";

import type { KeyValueStore } from "../../core/store.ts";
import { wrongKeys } from "./samples.ts";
import { rejectsWith, type StoreChecks } from "./store-check.ts";

/** What `kv.list` finds, and in which order. */
export const kvListChecks: StoreChecks = {
  async "kv.list() answers with an empty list for an empty store"({ kv }) {
    assert.deepEqual(await kv.list(), []);
  },

  async "kv.list() sorts by code points"({ kv }) {
    const sorted = ["A", "B", "a", "a\u0001", "aa", "b", "\u00E9", "\uE000", "\uFFFF", "\u{10000}", "\u{1F600}"];
    await setAll(kv, sorted.toReversed());

    assert.deepEqual(await keys(kv), sorted);
  },

  async "kv.list() finds a prefix, whatever characters it has"({ kv }) {
    const odd = ["%", "_", "*", "?", "[", "\\", ".", "^", "\u{1F600}", "\uFFFF", "ab"];
    await setAll(kv, ["a", "b", ...odd, ...odd.map((prefix) => `${prefix}1`)]);

    for (const prefix of odd) assert.deepEqual(await keys(kv, { prefix }), [prefix, `${prefix}1`]);
    assert.deepEqual(await keys(kv, { prefix: "a" }), ["a", "ab", "ab1"]);
    assert.deepEqual(await keys(kv, { prefix: "nothing" }), []);
    assert.equal((await keys(kv, { prefix: "" })).length, 24);
  },

  async "kv.list() begins after a key, also one that is not there"({ kv }) {
    await setAll(kv, ["a", "b", "d", "\uFFFF", "\u{1F600}"]);

    assert.deepEqual(await keys(kv, { after: "b" }), ["d", "\uFFFF", "\u{1F600}"]);
    assert.deepEqual(await keys(kv, { after: "c" }), ["d", "\uFFFF", "\u{1F600}"]);
    assert.deepEqual(await keys(kv, { after: "\uFFFF" }), ["\u{1F600}"]);
    assert.deepEqual(await keys(kv, { after: "\u{1F600}" }), []);
    assert.equal((await keys(kv, { after: "" })).length, 5);
  },

  async "kv.list() puts prefix and after together"({ kv }) {
    await setAll(kv, ["a", "b1", "b2", "b3", "c"]);

    assert.deepEqual(await keys(kv, { prefix: "b", after: "a" }), ["b1", "b2", "b3"]);
    assert.deepEqual(await keys(kv, { prefix: "b", after: "b1" }), ["b2", "b3"]);
    assert.deepEqual(await keys(kv, { prefix: "b", after: "b1", limit: 1 }), ["b2"]);
    assert.deepEqual(await keys(kv, { prefix: "b", after: "c" }), []);
  },

  async "kv.list() gives pages that have every key once"({ kv }) {
    const all = Array.from({ length: 25 }, (_, index) => `key-${String(index).padStart(2, "0")}`);
    await setAll(kv, all.toReversed());

    const found: string[] = [];
    for (let page = 0; page < 4; page++) found.push(...(await keys(kv, { limit: 10, after: found.at(-1) ?? "" })));

    assert.deepEqual(found, all);
    assert.deepEqual(await keys(kv, { limit: 0 }), []);
  },

  async "kv.list() stops at 1000 unless told otherwise"({ kv }) {
    await setAll(
      kv,
      Array.from({ length: 1001 }, (_, index) => `key-${index}`),
    );

    assert.equal((await kv.list()).length, 1000);
    assert.equal((await kv.list({ limit: 2000 })).length, 1001);
  },

  async "kv.list() sees what was written and deleted since the last list"({ kv }) {
    await setAll(kv, ["b", "d", "f"]);
    await kv.list();
    await setAll(kv, ["a", "e", "d", "g"]);
    await kv.delete("b");
    await kv.delete("g");
    await kv.delete("f");
    await kv.set("f", 2);

    assert.deepEqual(await keys(kv), ["a", "d", "e", "f"]);
  },

  async "kv.list() refuses a prefix and an after that no key can have"({ kv }) {
    for (const wrong of wrongKeys) {
      if (wrong === "" || wrong === undefined) continue;
      await rejectsWith("store-key-invalid", () => kv.list({ prefix: wrong as string }));
      await rejectsWith("store-key-invalid", () => kv.list({ after: wrong as string }));
    }
  },
};

async function setAll(kv: KeyValueStore, all: readonly string[]): Promise<void> {
  for (const key of all) await kv.set(key, 1);
}

async function keys(kv: KeyValueStore, options?: Parameters<KeyValueStore["list"]>[0]): Promise<string[]> {
  return (await kv.list(options)).map(([key]) => key);
}
