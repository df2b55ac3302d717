import { getEventListeners } from "node:events";
import { Session } from "node:inspector";

import { expect, test } from "vitest";

import { isKitbagError } from "../core/errors.ts";
import type { JsonValue } from "../core/json.ts";
import { storeConformance } from "../testing/store-conformance.ts";
import { memoryStore } from "./memory-store.ts";

const clock = createClock();
const conformance = storeConformance(() => memoryStore({ now: clock.now }), { wait: clock.pass });

test.for(conformance)("$name", (check) => check.run());

test("memoryStore() goes by the clock of the machine unless it gets another", async () => {
  const { log } = memoryStore();
  const before = Date.now();

  await log.append("stream", ["a"]);

  const [entry] = await log.read("stream");
  expect(entry?.time).toBeGreaterThanOrEqual(before);
  expect(entry?.time).toBeLessThanOrEqual(Date.now());
});

test("memoryStore() goes by the clock it gets", async () => {
  const { log } = memoryStore({ now: () => 42 });

  await log.append("stream", ["a"]);

  expect(await log.read("stream")).toEqual([{ position: 1, time: 42, value: "a" }]);
});

test.for([5, null, "now", {}])("memoryStore() refuses the clock %j", (now) => {
  expect(() => memoryStore({ now: now as unknown as () => number })).toThrow(
    /^Cannot use "now": found .+, expected a function$/,
  );
});

test("memoryStore() makes stores that share nothing", async () => {
  const first = memoryStore();
  const second = memoryStore();
  await first.kv.set("key", 1);
  await first.close();

  expect(await second.kv.get("key")).toBeUndefined();
});

test("memoryStore() writes nothing for a value whose getter closes the store", async () => {
  const store = memoryStore();
  const value = {
    get a() {
      void store.close();
      return 1;
    },
  };

  await expect(store.kv.set("key", value)).rejects.toMatchObject({ code: "store-closed" });
});

test("memoryStore() appends what a getter appends before the value that it belongs to", async () => {
  const { log } = memoryStore();
  const value = {
    get a() {
      void log.append("stream", ["inner"]);
      return 1;
    },
  };

  await log.append("stream", [value]);

  const entries = await log.read("stream");
  expect(entries.map((entry) => [entry.position, entry.value])).toEqual([
    [1, "inner"],
    [2, { a: 1 }],
  ]);
});

test("memoryStore() says what is wrong, where and what to do", async () => {
  const store = memoryStore();
  await store.kv.set("key", "text");
  await store.kv.set("most", Number.MAX_SAFE_INTEGER);
  await store.log.append("stream", ["a"]);

  const messages = [
    await messageOf(store.kv.set("key", 1, { ifVersion: 0 })),
    await messageOf(store.kv.set("new", 1, { ifVersion: 7 })),
    await messageOf(store.kv.increment("key")),
    await messageOf(store.kv.increment("most")),
    await messageOf(store.kv.get("a\0b")),
    await messageOf(store.kv.get(5 as unknown as string)),
    await messageOf(store.kv.get("x".repeat(10_000))),
    await messageOf(store.kv.set("key", "x".repeat(40_000_000))),
    await messageOf(store.kv.list({ limit: -1 })),
    await messageOf(store.log.append("stream", ["b"], { expectedPosition: 4 })),
    await messageOf(store.log.append("stream", "text" as unknown as JsonValue[])),
    await messageOf(store.blobs.put("text" as unknown as Uint8Array)),
    await messageOf(store.blobs.collect(["sha256:a"] as unknown as Set<string>)),
    await messageOf(store.close().then(() => store.kv.get("key"))),
  ];

  expect(messages).toMatchInlineSnapshot(`
    [
      "Cannot write to "key": expected nothing, found version 1; read it again and retry",
      "Cannot write to "new": expected version 7, found nothing; read it again and retry",
      "Cannot write to "key": expected a whole number up to 2^53 - 1, found "text"; read it again and retry",
      "Cannot write to "most": expected a whole number up to 2^53 - 1, found 9007199254740991 and 1 more; read it again and retry",
      "Cannot use the key "a\\u0000b": it contains NUL",
      "Cannot use the key "5": it is not a text",
      "Cannot use the key "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…": it is longer than 1024 bytes",
      "Cannot keep the value in "key": expected at most 32 MiB (keep it in blobs), found more",
      "Cannot use "limit": found -1, expected a whole number from 0",
      "Cannot write to "stream": expected position 4, found position 1; read it again and retry",
      "Cannot keep the value in "stream": expected a list of values, found "text"",
      "Cannot use "bytes": found "text", expected a Uint8Array, or an async iterable of them",
      "Cannot use "keep": found a list of 1, expected a Set of digests",
      "Cannot run kv.get: the store is closed; open a new one",
    ]
  `);
});

test("memoryStore() says where in a value the problem is", async () => {
  const { kv, log } = memoryStore();

  expect(await messageOf(kv.set("key", { list: [Number.NaN] }))).toMatch(
    /^Cannot keep the value in "key": list\[0\]: expected /,
  );
  expect(await messageOf(log.append("stream", ["a", { list: [Number.NaN] }]))).toMatch(
    /^Cannot keep the value in "stream\[1\]": list\[0\]: expected /,
  );
});

test("memoryStore() puts only the beginning of a wrong key into the error", async () => {
  const error = await memoryStore()
    .kv.get("x".repeat(10_000_000))
    .catch((cause: unknown) => cause);

  expect(isKitbagError(error, "store-key-invalid") && error.details.key.length).toBe(200);
});

test("memoryStore() remembers nothing of keys that are gone", async () => {
  const { kv } = memoryStore();
  await kv.list();

  const growth = await growthOf(30_000, async (index) => {
    const key = `${index}-`.padEnd(1000, "x");
    await kv.set(key, 1, { expiresInMs: 1_000_000 });
    await kv.delete(key);
  });

  // The keys alone would take 30 MB.
  expect(growth).toBeLessThan(10_000_000);
  expect(await kv.list()).toEqual([]);
});

test("memoryStore() remembers nothing of streams that were only asked for", async () => {
  const { log } = memoryStore();

  const growth = await growthOf(30_000, async (index) => {
    const stream = `${index}-`.padEnd(1000, "x");
    await log.append(stream, []);
    await log.read(stream);
    const tail = log.tail(stream)[Symbol.asyncIterator]();
    const waiting = tail.next();
    await tail.return?.();
    await waiting;
  });

  // The names alone would take 30 MB.
  expect(growth).toBeLessThan(10_000_000);
  expect(await log.position("0-")).toBe(0);
});

test("memoryStore() remembers nothing of tails that were aborted, stopped or dropped between entries", async () => {
  const { log } = memoryStore();
  const controller = new AbortController();

  const growth = await growthOf(5000, async (index) => {
    const own = new AbortController();
    const tails = [own.signal, controller.signal, controller.signal].map((signal) =>
      log.tail("stream", { after: index, signal })[Symbol.asyncIterator](),
    );
    const first = tails.map((tail) => tail.next());
    await log.append("stream", [1]);
    await Promise.all(first);
    const second = tails.slice(0, 2).map((tail) => tail.next());
    own.abort();
    await tails[1]?.return?.();
    await Promise.all(second);
  });

  // The 5,000 entries take 0.5 MB; the tails, if they were kept, 20 MB more.
  expect(growth).toBeLessThan(4_000_000);
  expect(getEventListeners(controller.signal, "abort")).toEqual([]);
  expect(await log.position("stream")).toBe(5001);
});

/** How many bytes more are in use after doing something `count` times than after doing it once. */
async function growthOf(count: number, step: (index: number) => Promise<void>): Promise<number> {
  await step(0);
  const before = await heapBytes();
  for (let index = 1; index <= count; index++) await step(index);
  return (await heapBytes()) - before;
}

/** How many bytes are still referred to. */
async function heapBytes(): Promise<number> {
  const session = new Session();
  session.connect();
  // What was let go by a finalizer goes only with the next round.
  for (let round = 0; round < 4; round++) {
    session.post("HeapProfiler.collectGarbage");
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
  }
  session.disconnect();
  return process.memoryUsage().heapUsed;
}

/** A clock that stands still until somebody lets time pass. */
function createClock() {
  let time = 1_000_000;
  return {
    now: () => time,
    pass(ms: number): void {
      time += ms;
    },
  };
}

async function messageOf(promise: Promise<unknown>): Promise<string> {
  const error = await promise.catch((cause: unknown) => cause);
  return isKitbagError(error) ? error.message : `no error: ${String(error)}`;
}
