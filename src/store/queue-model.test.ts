import { join } from "node:path";

import fc from "fast-check";
import { expect, test } from "vitest";

import { queueProperty, type QueueWorld } from "../../test/support/queue-model.ts";
import { createFolder } from "../../test/support/temporary-folder.ts";
import type { Store } from "../core/store.ts";
import { memoryStore } from "./memory-store.ts";
import { sqliteStore } from "./sqlite/sqlite-store.ts";

test("memoryStore() has queues that answer like the model, whatever workers do", async () => {
  const clock = createClock();

  await fc.assert(queueProperty(worldsOf(memoryStore({ now: clock.now }), clock)), { numRuns: 500 });
});

test("sqliteStore() has queues that answer like the model, whatever workers do", async () => {
  const clock = createClock();
  const store = await sqliteStore({ file: join(createFolder(), "kitbag.db"), now: clock.now });

  await fc.assert(queueProperty(worldsOf(store, clock)), { numRuns: 50 });
  await store.close();
});

test("the tests above find a queue that lets workers finish jobs they have lost", async () => {
  const clock = createClock();
  const store = memoryStore({ now: clock.now });
  const createWorld = worldsOf(store, clock);

  const { failed } = await fc.check(
    queueProperty(() => {
      const world = createWorld();
      const complete: QueueWorld["queue"]["complete"] = (job) => world.queue.complete(job).catch(() => undefined);
      return { ...world, queue: { ...world.queue, complete } };
    }),
    { numRuns: 500 },
  );

  expect(failed).toBe(true);
});

interface Clock {
  now(): number;
  advance(ms: number): void;
}

function createClock(): Clock {
  let time = 1_700_000_000_000;
  return {
    now: () => time,
    advance(ms) {
      time += ms;
    },
  };
}

/** Each world has a queue of its own. */
function worldsOf(store: Store, clock: Clock): () => QueueWorld {
  let count = 0;
  return () => ({ ...clock, queue: store.queue(`queue-${(count += 1)}`) });
}
