import { expect, onTestFinished, test } from "vitest";

import { sharePostgres, type PostgresServer } from "../../../test/support/postgres.ts";
import type { Store } from "../../core/store.ts";
import { postgresStore } from "./postgres-store.ts";

// Nothing here depends on what a loss of power would leave: no need to wait for the disk.
const findServer = sharePostgres({ fsync: "off" });
let schemas = 0;

test("append() of several processes leaves no gap, and keeps the batches of each whole and in order", async (context) => {
  const stores = await openSeveral(await findServer(context));
  await Promise.all(
    stores.flatMap((store, writer) =>
      Array.from({ length: 40 }, (_, batch) =>
        store.log.append("stream", [
          [writer, batch, 0],
          [writer, batch, 1],
        ]),
      ),
    ),
  );

  const entries = await stores[0].log.read("stream");

  expect(entries.map(({ position }) => position)).toEqual(Array.from({ length: 320 }, (_, index) => index + 1));
  const values = entries.map(({ value }) => value as number[]);
  expect(values.filter((_, index) => index % 2 === 1)).toEqual(
    values.filter((_, index) => index % 2 === 0).map(([writer, batch]) => [writer, batch, 1]),
  );
  for (const [writer] of stores.entries()) {
    const own = values.filter(([who]) => who === writer).map(([, batch]) => batch);
    expect(own).toEqual(own.toSorted((left = 0, right = 0) => left - right));
  }
});

test("append() at an expected position lets one process win each time", async (context) => {
  const stores = await openSeveral(await findServer(context));

  const wins = await Promise.all(
    stores.map(async ({ log }, writer) => {
      let count = 0;
      for (let position = await log.position("race"); position < 40; position = await log.position("race")) {
        const won = await log.append("race", [writer], { expectedPosition: position }).catch(() => undefined);
        if (won !== undefined) count += 1;
      }
      return count;
    }),
  );

  const entries = await stores[0].log.read("race");
  expect(entries.map(({ position }) => position)).toEqual(Array.from(entries, (_, index) => index + 1));
  expect(wins.reduce((sum, count) => sum + count, 0)).toBe(entries.length);
});

test("increment() and set() of several processes lose nothing, in whichever order they touch keys", async (context) => {
  const stores = await openSeveral(await findServer(context));
  const keys = Array.from({ length: 20 }, (_, index) => `key-${index}`);

  const versions = await Promise.all(
    stores.map(async ({ kv }, writer) => {
      const order = writer % 2 === 0 ? keys : keys.toReversed();
      const own: number[] = [];
      for (let round = 0; round < 10; round++) {
        await Promise.all(order.map((key) => kv.increment(key)));
        own.push(await kv.set("shared", writer));
      }
      return own;
    }),
  );

  for (const key of keys) expect((await stores[0].kv.get(key))?.value).toBe(40);
  expect(new Set(versions.flat()).size).toBe(40);
  for (const own of versions) expect(own).toEqual(own.toSorted((left, right) => left - right));
});

test("claim() of twenty workers in four processes gives no job to two", async (context) => {
  const stores = await openSeveral(await findServer(context));
  const ids = Array.from({ length: 200 }, (_, index) => `job-${index}`);
  await Promise.all(ids.map((id) => stores[0].queue("jobs").add(id, { priority: id.length })));

  const workers = Array.from({ length: 20 }, async (_, worker) => {
    const queue = (stores[worker % 4] ?? stores[0]).queue("jobs");
    const done: string[] = [];
    while ((await queue.count()).ready > 0) {
      for (const job of await queue.claim({ leaseMs: 600_000, limit: 3 })) {
        await queue.complete(job);
        done.push(job.id);
      }
    }
    return done;
  });

  expect((await Promise.all(workers)).flat().toSorted()).toEqual(ids.toSorted());
});

test("tail() in one process shows what others append, once and in order", async (context) => {
  const stores = await openSeveral(await findServer(context));
  const readers = stores.map(async ({ log }) => {
    const seen: number[] = [];
    for await (const { position } of log.tail("stream")) if (seen.push(position) === 120) break;
    return seen;
  });

  for (let round = 0; round < 30; round++) {
    await Promise.all(stores.map(({ log }, writer) => log.append("stream", [writer])));
  }

  for (const seen of await Promise.all(readers))
    expect(seen).toEqual(Array.from({ length: 120 }, (_, index) => index + 1));
});

test("put() of the same bytes in several processes keeps them once", async (context) => {
  const stores = await openSeveral(await findServer(context));
  const bytes = Buffer.alloc(300_000, "same");

  await Promise.all(stores.map(({ blobs }) => blobs.put(bytes)));

  expect(await stores[0].blobs.list()).toHaveLength(1);
  expect(await stores[0].blobs.collect(new Set())).toBe(1);
});

/** Opens four stores that share everything but their connections, as four processes would. */
async function openSeveral({ url }: PostgresServer): Promise<[Store, Store, Store, Store]> {
  schemas += 1;
  const open = (): Promise<Store> => postgresStore({ url, schema: `sharing_${schemas}`, timeoutMs: 10_000 });
  const stores: [Store, Store, Store, Store] = [await open(), await open(), await open(), await open()];
  onTestFinished(async () => void (await Promise.all(stores.map((store) => store.close()))));
  return stores;
}
