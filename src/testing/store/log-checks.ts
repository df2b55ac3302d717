import assert from "node:assert/strict";

import type { JsonValue } from "../../core/json.ts";
import type { LogStore } from "../../core/store.ts";
import {
  jsonValues,
  notKept,
  notWhole,
  oddKeys,
  oneWins,
  rejectsWith,
  wrongKeys,
  type StoreChecks,
} from "./store-check.ts";

/** What `log` appends and reads. */
export const logChecks: StoreChecks = {
  async "log.append() answers with the position of the last entry"({ log }) {
    assert.equal(await log.append("stream", ["a"]), 1);
    assert.equal(await log.append("stream", ["b", "c"]), 3);
    assert.equal(await log.position("stream"), 3);
  },

  async "log.read() answers with the entries in order, counted from 1"({ log }) {
    await log.append("stream", ["a"]);
    await log.append("stream", ["b", "c"]);

    const entries = await log.read("stream");

    assert.deepEqual(
      entries.map(({ position, value }) => [position, value]),
      [
        [1, "a"],
        [2, "b"],
        [3, "c"],
      ],
    );
    for (const { time } of entries) assert.ok(Number.isSafeInteger(time), `the time is ${time}`);
  },

  async "log.append() keeps what need not be on disk yet in its order, and says it to everybody"({ log }) {
    await Promise.all([
      log.append("stream", ["a"], { durable: false }),
      log.append("stream", ["b"]),
      log.append("stream", ["c"], { durable: false }),
    ]);
    assert.deepEqual(
      (await log.read("stream")).map(({ value }) => value),
      ["a", "b", "c"],
    );
    await rejectsWith("option-invalid", () => log.append("stream", ["x"], { durable: 1 as never }));
  },

  async "log.append() keeps the time of entries that come from another store"({ log }) {
    await log.append("stream", ["a", "b"], { time: 1_000 });
    await log.append("stream", ["c"], { time: 0, expectedPosition: 2 });
    await log.append("stream", ["d"]);

    const times = (await log.read("stream")).map(({ time }) => time);

    assert.deepEqual(times.slice(0, 3), [1000, 1000, 0]);
    assert.ok((times[3] ?? 0) > 1000, "an entry without a time has that of now");
    for (const time of notWhole) {
      await rejectsWith("option-invalid", () => log.append("stream", ["x"], { time: time as number }));
    }
  },

  async "log.read() begins after a position and stops at a limit"({ log }) {
    await log.append("stream", ["a", "b", "c", "d"]);

    assert.deepEqual(await values(log, { after: 1, limit: 2 }), ["b", "c"]);
    assert.deepEqual(await values(log, { after: 3 }), ["d"]);
    assert.deepEqual(await values(log, { after: 4 }), []);
    assert.deepEqual(await values(log, { after: 1000 }), []);
    assert.deepEqual(await values(log, { limit: 0 }), []);
  },

  async "log.read() stops at 1000 unless told otherwise"({ log }) {
    await log.append(
      "stream",
      Array.from({ length: 1001 }, (_, index) => index),
    );

    assert.equal((await values(log)).length, 1000);
    assert.equal((await values(log, { limit: 2000 })).length, 1001);
  },

  async "log treats a stream that does not exist as empty"({ log }) {
    assert.deepEqual(await log.read("stream"), []);
    assert.equal(await log.position("stream"), 0);
  },

  async "log.append() keeps every JSON value as it is"({ log }) {
    await log.append("stream", jsonValues);
    await log.append("stream", [{ b: 1, a: 2 }]);

    const found = await values(log);

    assert.equal(JSON.stringify(found.pop()), '{"b":1,"a":2}');
    assert.deepEqual(found, jsonValues);
  },

  async "log.append() holds a value of 10 MB"({ log }) {
    const value = "é".repeat(5_000_000);

    await log.append("stream", [value]);

    assert.deepEqual(await values(log), [value]);
  },

  async "log.append() appends all values or none"({ log }) {
    await log.append("stream", ["old"]);

    for (const wrong of notKept()) {
      await rejectsWith("store-value-invalid", () => log.append("stream", ["a", wrong as JsonValue, "b"]));
    }
    for (const wrong of ["text", { length: 1 }, null, undefined, 5]) {
      await rejectsWith("store-value-invalid", () => log.append("stream", wrong as JsonValue[]));
    }

    assert.deepEqual(await values(log), ["old"]);
  },

  async "log.append() appends at expectedPosition only"({ log }) {
    await log.append("stream", ["a"], { expectedPosition: 0 });
    await log.append("stream", ["b", "c"], { expectedPosition: 1 });

    for (const expectedPosition of [0, 1, 2, 4]) {
      await rejectsWith("store-conflict", () => log.append("stream", ["d"], { expectedPosition }));
    }
    await rejectsWith("store-conflict", () => log.append("new", ["d"], { expectedPosition: 1 }));

    assert.deepEqual(await values(log), ["a", "b", "c"]);
    assert.equal(await log.position("new"), 0);
  },

  async "log.append() of no values appends nothing but checks expectedPosition"({ log }) {
    await log.append("stream", ["a"]);

    assert.equal(await log.append("stream", []), 1);
    assert.equal(await log.append("stream", [], { expectedPosition: 1 }), 1);
    assert.equal(await log.append("new", [], { expectedPosition: 0 }), 0);
    await rejectsWith("store-conflict", () => log.append("stream", [], { expectedPosition: 0 }));
    assert.equal(await log.position("stream"), 1);
  },

  async "log.append() lets exactly one of several writers win"({ log }) {
    await log.append("stream", ["start"]);

    await oneWins(Array.from({ length: 20 }, (_, writer) => log.append("stream", [writer], { expectedPosition: 1 })));
    await oneWins(Array.from({ length: 20 }, (_, writer) => log.append("new", [writer], { expectedPosition: 0 })));

    assert.equal(await log.position("stream"), 2);
    assert.equal(await log.position("new"), 1);
  },

  async "log.append() keeps batches whole and in the order of the calls"({ log }) {
    const batches = Array.from({ length: 20 }, (_, batch) => [`${batch}a`, `${batch}b`, `${batch}c`]);

    const positions = await Promise.all(batches.map((batch) => log.append("stream", batch)));

    assert.deepEqual(
      positions,
      batches.map((_, index) => (index + 1) * 3),
    );
    assert.deepEqual(await values(log), batches.flat());
  },

  async "log.append() keeps copies, and log.read() gives copies that can be changed"({ log }) {
    const value = { list: [1] };
    const append = log.append("stream", [value]);
    value.list.push(2);
    await append;
    const [read] = (await values(log)) as { list: number[] }[];
    read?.list.push(3);

    assert.deepEqual(await values(log), [{ list: [1] }]);
  },

  async "log keeps streams with odd names apart"({ log }) {
    for (const [index, stream] of oddKeys.entries()) await log.append(stream, [index]);

    for (const [index, stream] of oddKeys.entries()) {
      const entries = await log.read(stream);
      assert.deepEqual(
        entries.map(({ position, value }) => [position, value]),
        [[1, index]],
        JSON.stringify(stream),
      );
    }
  },

  async "log refuses wrong names of streams in every method"({ log }) {
    for (const wrong of wrongKeys) {
      const stream = wrong as string;
      await rejectsWith("store-key-invalid", () => log.append(stream, [1]));
      await rejectsWith("store-key-invalid", () => log.read(stream));
      await rejectsWith("store-key-invalid", () => log.position(stream));
    }
  },

  async "log refuses wrong numbers in options"({ log }) {
    for (const wrong of notWhole) {
      const number = wrong as number;
      await rejectsWith("option-invalid", () => log.append("stream", [1], { expectedPosition: number }));
      await rejectsWith("option-invalid", () => log.read("stream", { after: number }));
      await rejectsWith("option-invalid", () => log.read("stream", { limit: number }));
    }

    assert.equal(await log.position("stream"), 0);
  },

  async "log rejects in every method once the store is closed"(store) {
    const { log } = store;
    await store.close();

    await rejectsWith("store-closed", () => log.append("stream", [1]));
    await rejectsWith("store-closed", () => log.read("stream"));
    await rejectsWith("store-closed", () => log.position("stream"));
  },
};

async function values(log: LogStore, options?: Parameters<LogStore["read"]>[1]): Promise<JsonValue[]> {
  return (await log.read("stream", options)).map(({ value }) => value);
}
