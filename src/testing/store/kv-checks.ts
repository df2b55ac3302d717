import assert from "node:assert/strict";

import type { JsonValue } from "../../core/json.ts";
import type { KeyValueStore } from "../../core/store.ts";
import { jsonValues, notKept, oddKeys, rejectsWith, wrongKeys, type StoreChecks } from "./store-check.ts";

/** What `kv` does with keys and values. */
export const kvChecks: StoreChecks = {
  async "kv.set(), kv.delete() and kv.increment() take what need not be on disk yet, and everybody sees it"({ kv }) {
    const version = await kv.set("key", 1, { durable: false });
    await kv.set("other", 1);
    assert.deepEqual(await kv.get("key"), { value: 1, version });
    assert.equal(await kv.delete("key", { ifVersion: version, durable: false }), true);
    assert.equal(await kv.get("key"), undefined);
    assert.equal(await kv.increment("count", 2, { durable: false }), 2);
    assert.equal(await kv.increment("count"), 3);
    await rejectsWith("option-invalid", () => kv.set("key", 1, { durable: 1 as never }));
    await rejectsWith("option-invalid", () => kv.increment("count", 1, { durable: 1 as never }));
    await rejectsWith("option-invalid", () => kv.delete("key", { durable: "no" as never }));
  },

  async "kv.get() answers undefined for a key that is not there"({ kv }) {
    assert.equal(await kv.get("nothing"), undefined);
  },

  async "kv.set() keeps every JSON value as it is"({ kv }) {
    for (const value of jsonValues) {
      await kv.set("key", value);

      assert.deepEqual((await kv.get("key"))?.value, value);
    }
  },

  async "kv.set() keeps the order of an object's keys"({ kv }) {
    await kv.set("key", { b: 1, a: { d: 1, c: 2 }, longer: 3 });

    assert.equal(JSON.stringify((await kv.get("key"))?.value), '{"b":1,"a":{"d":1,"c":2},"longer":3}');
  },

  async "kv.set() keeps -0 as 0"({ kv }) {
    await kv.set("key", [-0]);

    assert.deepEqual((await kv.get("key"))?.value, [0]);
  },

  async "kv.set() holds a value of 10 MB"({ kv }) {
    const value = { text: "é".repeat(5_000_000) };

    await kv.set("key", value);

    assert.deepEqual((await kv.get("key"))?.value, value);
  },

  async "kv.set() refuses what is not JSON and leaves the old value"({ kv }) {
    const version = await kv.set("key", "old");

    for (const value of notKept()) await rejectsWith("store-value-invalid", () => kv.set("key", value as JsonValue));

    assert.deepEqual(await kv.get("key"), { value: "old", version });
  },

  async "kv.set() keeps a copy that a change of the argument does not reach"({ kv }) {
    const value = { list: [1] };
    const set = kv.set("key", value);
    value.list.push(2);
    await set;

    assert.deepEqual((await kv.get("key"))?.value, { list: [1] });
  },

  async "kv.get() and kv.list() give copies that can be changed"({ kv }) {
    await kv.set("key", { list: [1] });
    const got = (await kv.get("key"))?.value as { list: number[] };
    const listed = (await kv.list())[0]?.[1].value as { list: number[] };
    got.list.push(2);
    listed.list.push(3);

    assert.deepEqual((await kv.get("key"))?.value, { list: [1] });
  },

  async "kv keeps odd keys apart"({ kv }) {
    for (const [index, key] of oddKeys.entries()) await kv.set(key, index);

    for (const [index, key] of oddKeys.entries()) assert.equal((await kv.get(key))?.value, index, JSON.stringify(key));
    assert.equal((await kv.list()).length, oddKeys.length);
  },

  async "kv refuses wrong keys in every method"({ kv }) {
    for (const wrong of wrongKeys) {
      const key = wrong as string;
      await rejectsWith("store-key-invalid", () => kv.get(key));
      await rejectsWith("store-key-invalid", () => kv.set(key, 1));
      await rejectsWith("store-key-invalid", () => kv.delete(key));
      await rejectsWith("store-key-invalid", () => kv.increment(key));
    }

    assert.deepEqual(await kv.list(), []);
  },

  async "kv.delete() answers whether there was something"({ kv }) {
    await kv.set("key", null);

    assert.equal(await kv.delete("key"), true);
    assert.equal(await kv.delete("key"), false);
    assert.equal(await kv.get("key"), undefined);
  },

  async "kv.set() takes effect in the order of the calls"({ kv }) {
    await Promise.all(Array.from({ length: 50 }, (_, index) => kv.set("key", index)));

    assert.equal((await kv.get("key"))?.value, 49);
  },

  async "kv rejects in every method once the store is closed"(store) {
    const { kv } = store;
    await store.close();

    await rejectsWith("store-closed", () => kv.get("key"));
    await rejectsWith("store-closed", () => kv.set("key", 1));
    await rejectsWith("store-closed", () => kv.delete("key"));
    await rejectsWith("store-closed", () => kv.list());
    await rejectsWith("store-closed", () => kv.increment("key"));
  },

  async "close() may be called twice"(store) {
    await store.kv.set("key", 1);
    await store.close();

    await store.close();
  },
};

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
