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
    await messageOf(store.kv.set("key", { list: [Number.NaN] })),
    await messageOf(store.kv.set("key", "x".repeat(40_000_000))),
    await messageOf(store.kv.list({ limit: -1 })),
    await messageOf(store.log.append("stream", ["b"], { expectedPosition: 4 })),
    await messageOf(
      store.log.append("stream", ["b", { a: undefined as unknown as JsonValue, c: [10n as unknown as JsonValue] }]),
    ),
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
      "Cannot keep the value in "key": list[0]: expected a finite number, found NaN",
      "Cannot keep the value in "key": expected at most 32 MiB (keep it in blobs), found more",
      "Cannot use "limit": found -1, expected a whole number from 0",
      "Cannot write to "stream": expected position 4, found position 1; read it again and retry",
      "Cannot keep the value in "stream[1]": c[0]: expected a number or a string, found the BigInt "10"",
      "Cannot keep the value in "stream": expected a list of values, found "text"",
      "Cannot use "bytes": found "text", expected a Uint8Array, or an async iterable of them",
      "Cannot use "keep": found a list of 1, expected a Set of digests",
      "Cannot run kv.get: the store is closed; open a new one",
    ]
  `);
});

test("memoryStore() puts only the beginning of a wrong key into the error", async () => {
  const error = await memoryStore()
    .kv.get("x".repeat(10_000_000))
    .catch((cause: unknown) => cause);

  expect(isKitbagError(error, "store-key-invalid") && error.details.key.length).toBe(200);
});

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
