import { expect, test } from "vitest";

import { storeConformance } from "../testing/store-conformance.ts";
import { combineStores, type LiveTails } from "./combine-stores.ts";
import { memoryStore } from "./memory-store.ts";

const clock = createClock();
const conformance = storeConformance(
  () => {
    const { kv, close } = memoryStore({ now: clock.now });
    return combineStores(memoryStore({ now: clock.now }), { counters: kv, tails: createTails(), close });
  },
  { wait: clock.pass },
);

test.for(conformance)("$name", (check) => check.run());

test("combineStores() takes what the parts have, and the rest from the base", async () => {
  const base = memoryStore();
  const parts = memoryStore();
  const store = combineStores(base, { counters: parts.kv, close: parts.close });

  await store.kv.set("key", 1);
  await store.counters?.set("count", 2);
  await store.queue("jobs").add("job");
  await store.log.append("stream", ["a"]);

  expect((await base.kv.get("key"))?.value).toBe(1);
  expect(await base.kv.get("count")).toBeUndefined();
  expect((await parts.kv.get("count"))?.value).toBe(2);
  expect((await base.queue("jobs").count()).ready).toBe(1);
  expect(await base.log.position("stream")).toBe(1);
});

test("combineStores() closes both", async () => {
  const base = memoryStore();
  const parts = memoryStore();

  await combineStores(base, { counters: parts.kv, close: parts.close }).close();

  await expect(base.kv.get("key")).rejects.toMatchObject({ code: "store-closed" });
  await expect(parts.kv.get("key")).rejects.toMatchObject({ code: "store-closed" });
});

test("tail() of combined stores shows what is appended though nobody tells", async () => {
  const store = combineStores(memoryStore(), {
    tails: { publish: () => undefined, subscribe: () => () => undefined },
    async close() {},
  });
  const first = store.log.tail("stream")[Symbol.asyncIterator]().next();
  await store.log.append("stream", ["a"]);

  expect(await first).toMatchObject({ value: { position: 1, value: "a" } });
  await store.close();
});

/** Tails within one process. */
function createTails(): LiveTails {
  const listeners = new Set<(stream?: string) => void>();
  return {
    publish(stream) {
      for (const listener of listeners) listener(stream);
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}

function createClock() {
  let time = 1_000_000;
  return {
    now: () => time,
    pass(ms: number): void {
      time += ms;
    },
  };
}
