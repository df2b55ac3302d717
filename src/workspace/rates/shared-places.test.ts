import { setTimeout as sleep } from "node:timers/promises";

import { expect, test } from "vitest";

import type { KeyValueStore } from "../../core/store.ts";
import { memoryStore } from "../../store/memory-store.ts";
import { createSharedPlaces, type SharedPlace, type SharedPlaces } from "./shared-places.ts";

const one = { name: "print", max: 1 };
const three = { name: "print", max: 3 };

test("there are as many places as the limit says, for all who share the store", async () => {
  const { kv } = memoryStore();
  const [first, second] = [createSharedPlaces(kv), createSharedPlaces(kv)];
  const places = await Promise.all([first, second, first, second, first].map((process) => process.take(three)));
  const taken = places.filter((place) => place !== undefined);

  expect(taken).toHaveLength(3);
  await taken[0]?.free();
  expect(await second.take(three)).toBeDefined();
  expect(await second.take(three)).toBeUndefined();
  expect(await second.take({ name: "other", max: 1 })).toBeDefined();
});

test("a process with a smaller limit counts only the places that it knows", async () => {
  const { kv } = memoryStore();
  const wide = createSharedPlaces(kv);
  for (let index = 0; index < 20; index++) await wide.take({ name: "print", max: 20 });

  expect(await createSharedPlaces(kv).take(three)).toBeUndefined();
});

test("who waits gets the place of the same process at once, in order, and nothing is written for it", async () => {
  const { kv } = memoryStore();
  const { kv: watched, writes } = watch(kv);
  const places = createSharedPlaces(watched);
  const first = await places.take(one);
  const order: number[] = [];
  const waiting = [1, 2, 3].map(async (number) => {
    const place = await places.wait(one).promise;
    order.push(number);
    return place;
  });
  const before = writes();
  await first?.free();
  for (const next of waiting) await (await next).free();

  expect(order).toEqual([1, 2, 3]);
  // The last one gives it back.
  expect(writes() - before).toBeLessThanOrEqual(2);
  expect(await kv.list({ prefix: "place:" })).toEqual([]);
});

test("nobody overtakes those who wait", async () => {
  const places = createSharedPlaces(memoryStore().kv);
  const first = await places.take(one);
  const second = places.wait(one).promise;

  expect(await places.take(one)).toBeUndefined();
  await first?.free();
  await (await second).free();
  expect(await places.take(one)).toBeDefined();
});

test("who waits gets the place of another process", async () => {
  const { kv } = memoryStore();
  const first = await createSharedPlaces(kv).take(one);
  const second = createSharedPlaces(kv).wait(one).promise;
  await first?.free();

  await (await second).free();
  await expect.poll(() => kv.list()).toEqual([]);
});

test.for([
  ["wait for it", 3],
  ["follow each other", 1],
] as const)("a process whose calls %s leaves the place to others who wait", async ([, count]) => {
  const { kv } = memoryStore();
  const busy = createSharedPlaces(kv);
  const end = new AbortController();
  const work = async (): Promise<void> => {
    while (!end.signal.aborted) await use(busy, 5);
  };
  const working = Promise.all(Array.from({ length: count }, work));
  await sleep(50);
  const other = createSharedPlaces(kv);

  for (let time = 0; time < 5; time++) await use(other, 1);
  end.abort();
  await working;
});

test("who leaves waits no longer, and gives a place back that has just come", async () => {
  const { kv } = memoryStore();
  const places = createSharedPlaces(kv);
  const first = await places.take(one);
  const [left, late] = [places.wait(one), places.wait(one)];
  left.leave();
  await first?.free();
  late.leave();

  await expect.poll(() => kv.list()).toEqual([]);
  expect(await places.take(one)).toBeDefined();
});

test("a place that comes when nobody waits any more is given back", async () => {
  const { kv } = memoryStore();
  const first = await createSharedPlaces(kv).take(one);
  const slow = slowly(kv);
  const places = createSharedPlaces(slow.kv);
  const { leave } = places.wait(one);
  await first?.free();
  await slow.listed;
  leave();
  slow.goOn();

  await expect.poll(() => kv.list()).toEqual([]);
});

test("all who wait hear that the store fails", async () => {
  const { kv } = memoryStore();
  await createSharedPlaces(kv).take(one);
  const places = createSharedPlaces({ ...kv, list: () => Promise.reject(new Error("gone")) });
  const waiting = [places.wait(one), places.wait(one)].map(({ promise }) => promise);

  await expect(Promise.allSettled(waiting)).resolves.toMatchObject([
    { reason: { message: "gone" } },
    { reason: { message: "gone" } },
  ]);
  await expect(places.take(one)).rejects.toThrow("gone");
});

test("a place is given back when it cannot be known whether others wait", async () => {
  const { kv } = memoryStore();
  let isAway = false;
  const list: KeyValueStore["list"] = (options) =>
    isAway && options?.prefix?.startsWith("place-wish:") ? Promise.reject(new Error("gone")) : kv.list(options);
  const places = createSharedPlaces({ ...kv, list });
  const first = await places.take(one);
  const second = places.wait(one).promise;
  isAway = true;
  await sleep(120);
  await first?.free();

  await (await second).free();
  await expect.poll(() => kv.list()).toEqual([]);
});

test("who finds that another one was faster looks again", async () => {
  const { kv } = memoryStore();
  await createSharedPlaces(kv).take(one);
  let looks = 0;
  const list: KeyValueStore["list"] = (options) => ((looks += 1) === 1 ? Promise.resolve([]) : kv.list(options));

  expect(await createSharedPlaces({ ...kv, list }).take(one)).toBeUndefined();
  expect(looks).toBe(2);
});

test("two who look at the same time never get the same place", async () => {
  const { kv } = memoryStore();
  let inside = 0;
  let most = 0;
  const processes = Array.from({ length: 5 }, () => createSharedPlaces(kv));
  await Promise.all(
    processes.flatMap((places) =>
      Array.from({ length: 10 }, () =>
        use(places, 2, three, (by) => {
          inside += by;
          most = Math.max(most, inside);
        }),
      ),
    ),
  );

  expect(most).toBe(3);
  await expect.poll(() => kv.list()).toEqual([]);
});

/** Has a place for some time, waiting for it if need be. */
async function use(
  places: SharedPlaces,
  ms: number,
  limit = one,
  count: (by: number) => void = () => {},
): Promise<void> {
  const place: SharedPlace = (await places.take(limit)) ?? (await places.wait(limit).promise);
  count(1);
  await sleep(ms);
  count(-1);
  await place.free();
}

/** Counts the writes. */
function watch(kv: KeyValueStore): { readonly kv: KeyValueStore; writes(): number } {
  let writes = 0;
  return {
    kv: {
      ...kv,
      set: (...given) => ((writes += 1), kv.set(...given)),
      delete: (...given) => ((writes += 1), kv.delete(...given)),
    },
    writes: () => writes,
  };
}

/** A store whose first list waits. */
function slowly(kv: KeyValueStore): { readonly kv: KeyValueStore; readonly listed: Promise<void>; goOn(): void } {
  const { promise: listed, resolve: tell } = Promise.withResolvers<void>();
  const { promise: going, resolve: goOn } = Promise.withResolvers<void>();
  const list: KeyValueStore["list"] = async (options) => {
    const found = await kv.list(options);
    tell();
    await going;
    return found;
  };
  return { kv: { ...kv, list }, listed, goOn };
}
