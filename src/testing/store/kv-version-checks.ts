import assert from "node:assert/strict";

import { notWhole, oneWins, rejectsWith, type StoreChecks } from "./store-check.ts";

/** Long enough for a slow machine to do something before, short enough to wait for. */
const shortMs = 400;

const longMs = 3_600_000;

/** What `kv` does with versions, with time and with numbers. */
export const kvVersionChecks: StoreChecks = {
  async "kv.set() answers with a version that grows with each write"({ kv }) {
    const first = await kv.set("key", "a");
    const second = await kv.set("key", "a");

    assert.ok(Number.isSafeInteger(first) && first >= 1);
    assert.ok(second > first);
    assert.deepEqual(await kv.get("key"), { value: "a", version: second });
    assert.deepEqual(await kv.list(), [["key", { value: "a", version: second }]]);
  },

  async "kv.set() gives a key that was deleted or had expired a greater version than before"({ kv }, wait) {
    const first = await kv.set("key", 1);
    await kv.delete("key");
    const second = await kv.set("key", 2, { expiresInMs: 1 });
    await wait(50);
    const third = await kv.set("key", 3);

    assert.ok(second > first);
    assert.ok(third > second);
  },

  async "kv.set() with ifVersion writes only over that version"({ kv }) {
    const old = await kv.set("key", 1);
    const version = await kv.set("key", 2, { ifVersion: old });

    await rejectsWith("store-conflict", () => kv.set("key", 3, { ifVersion: old }));
    await rejectsWith("store-conflict", () => kv.set("key", 3, { ifVersion: version + 1 }));
    await rejectsWith("store-conflict", () => kv.set("key", 3, { ifVersion: 0 }));
    await rejectsWith("store-conflict", () => kv.set("new", 3, { ifVersion: version }));
    assert.deepEqual(await kv.get("key"), { value: 2, version });
    assert.equal(await kv.get("new"), undefined);
  },

  async "kv.set() with ifVersion 0 writes only where nothing is"({ kv }, wait) {
    await kv.set("new", 1, { ifVersion: 0 });
    await kv.set("expired", 1, { expiresInMs: 1 });
    await wait(50);
    await kv.set("expired", 2, { ifVersion: 0 });

    assert.equal((await kv.get("new"))?.value, 1);
    assert.equal((await kv.get("expired"))?.value, 2);
  },

  async "kv.set() lets exactly one of several writers win"({ kv }) {
    const version = await kv.set("key", "start");

    await oneWins(Array.from({ length: 20 }, (_, writer) => kv.set("key", writer, { ifVersion: version })));
    await oneWins(Array.from({ length: 20 }, (_, writer) => kv.set("new", writer, { ifVersion: 0 })));
  },

  async "kv.delete() with ifVersion deletes only that version"({ kv }) {
    const version = await kv.set("key", 1);

    await rejectsWith("store-conflict", () => kv.delete("key", { ifVersion: version + 1 }));
    await rejectsWith("store-conflict", () => kv.delete("key", { ifVersion: 0 }));
    await rejectsWith("store-conflict", () => kv.delete("nothing", { ifVersion: version }));
    assert.equal(await kv.delete("nothing", { ifVersion: 0 }), false);
    assert.equal(await kv.delete("key", { ifVersion: version }), true);
    assert.equal(await kv.get("key"), undefined);
  },

  async "kv.set() with expiresInMs keeps the value until then and not longer"({ kv }, wait) {
    const version = await kv.set("short", 1, { expiresInMs: shortMs });
    await kv.set("long", 2, { expiresInMs: longMs });
    assert.equal((await kv.get("short"))?.value, 1);
    await wait(shortMs + 100);

    assert.equal(await kv.get("short"), undefined);
    await rejectsWith("store-conflict", () => kv.set("short", 2, { ifVersion: version }));
    assert.equal(await kv.delete("short"), false);
    assert.equal((await kv.get("long"))?.value, 2);
  },

  async "kv.list() leaves out what has expired"({ kv }, wait) {
    await kv.set("a", 1, { expiresInMs: 1 });
    await kv.set("b", 2);
    await kv.set("c", 3, { expiresInMs: longMs });
    await wait(50);

    assert.deepEqual(
      (await kv.list({ limit: 2 })).map(([key]) => key),
      ["b", "c"],
    );
  },

  async "kv.list() says what is left of a value's time"({ kv }, wait) {
    await kv.set("long", 1, { expiresInMs: longMs });
    await kv.set("stays", 2);
    await wait(50);

    const [long, stays] = (await kv.list()).map(([, { expiresInMs }]) => expiresInMs);
    assert.ok(long !== undefined && long <= longMs - 40 && long > longMs - 60_000, `it is ${long}`);
    assert.equal(stays, undefined);
  },

  async "kv.set() without expiresInMs takes an earlier time back"({ kv }, wait) {
    await kv.set("key", 1, { expiresInMs: shortMs });
    await kv.set("key", 2);
    await wait(shortMs + 100);

    assert.equal((await kv.get("key"))?.value, 2);
  },

  async "kv.increment() counts from 0 and by any whole number"({ kv }) {
    assert.equal(await kv.increment("key"), 1);
    assert.equal(await kv.increment("key", 41), 42);
    assert.equal(await kv.increment("key", -50), -8);
    assert.equal(await kv.increment("key", 0), -8);
    assert.equal(await kv.increment("new", 0), 0);
    assert.equal((await kv.get("key"))?.value, -8);
  },

  async "kv.increment() is a write: the version grows"({ kv }) {
    const version = await kv.set("key", 1);
    await kv.increment("key", 0);

    await rejectsWith("store-conflict", () => kv.set("key", 5, { ifVersion: version }));
  },

  async "kv.increment() loses nothing when many add at once"({ kv }) {
    const sums = await Promise.all(Array.from({ length: 50 }, () => kv.increment("key", 2)));

    assert.deepEqual(
      sums.toSorted((a, b) => a - b),
      Array.from({ length: 50 }, (_, index) => (index + 1) * 2),
    );
  },

  async "kv.increment() starts the time of a window with its first number"({ kv }, wait) {
    await kv.increment("key", 1, { expiresInMs: shortMs });
    await wait(shortMs / 2);
    assert.equal(await kv.increment("key", 1, { expiresInMs: longMs }), 2);
    await wait(shortMs / 2 + 100);

    assert.equal(await kv.get("key"), undefined);
    assert.equal(await kv.increment("key"), 1);
  },

  async "kv.increment() refuses what is not a whole number and leaves it"({ kv }) {
    const largest = Number.MAX_SAFE_INTEGER;
    for (const value of ["1", null, true, 1.5, 1e300, [1], { value: 1 }, largest, -largest]) {
      const version = await kv.set("key", value);

      await rejectsWith("store-conflict", () => kv.increment("key", value === -largest ? -1 : 1));
      assert.deepEqual(await kv.get("key"), { value, version });
    }
  },

  async "kv refuses wrong numbers in options"({ kv }) {
    for (const wrong of notWhole) {
      const number = wrong as number;
      await rejectsWith("option-invalid", () => kv.set("key", 1, { expiresInMs: number }));
      await rejectsWith("option-invalid", () => kv.set("key", 1, { ifVersion: number }));
      await rejectsWith("option-invalid", () => kv.delete("key", { ifVersion: number }));
      await rejectsWith("option-invalid", () => kv.list({ limit: number }));
      await rejectsWith("option-invalid", () => kv.increment("key", 1, { expiresInMs: number }));
      if (number !== -1) await rejectsWith("option-invalid", () => kv.increment("key", number));
    }
    await rejectsWith("option-invalid", () => kv.set("key", 1, { expiresInMs: 0 }));
    await rejectsWith("option-invalid", () => kv.increment("key", 1, { expiresInMs: 0 }));

    assert.equal(await kv.get("key"), undefined);
  },
};
