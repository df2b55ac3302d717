import fc from "fast-check";
import { expect, test } from "vitest";

import type { ToolRate } from "../../core/tool.ts";
import { memoryStore } from "../../store/memory-store.ts";
import { createRateCounter, type RateCounter } from "./rate-counter.ts";
import { createStoreRateCounter } from "./store-rate-counter.ts";

const kinds: readonly [name: string, create: (rate: ToolRate) => RateCounter][] = [
  ["in memory", createRateCounter],
  ["in a store", (rate) => createStoreRateCounter(memoryStore().kv, { ...rate, per: "user" })],
];

test.for(kinds)("a sliding window %s lets through so many at once, and says when there is room", async ([, create]) => {
  const counter = create({ calls: 3, inMs: 1000 });

  const waits = await takeAt(counter, [10_000, 10_000, 10_100, 10_200, 10_999]);

  expect(waits.slice(0, 3)).toEqual([0, 0, 0]);
  // The window is full until it ends; then a third of it has to pass.
  expect(waits.slice(3)).toEqual([1134, 335]);
  expect(await takeAt(counter, [11_334])).toEqual([0]);
});

test.for(kinds)("a sliding window %s forgets after two windows", async ([, create]) => {
  const counter = create({ calls: 2, inMs: 1000 });
  await takeAt(counter, [10_000, 10_000]);

  expect(await takeAt(counter, [12_000, 12_000])).toEqual([0, 0]);
});

test.for(kinds)("a bucket %s lets through a burst, then one at a time", async ([, create]) => {
  const counter = create({ calls: 10, inMs: 1000, burst: 3 });

  expect(await takeAt(counter, [10_000, 10_000, 10_000, 10_000, 10_050, 10_100, 10_100])).toEqual([
    0, 0, 0, 100, 50, 0, 100,
  ]);
  expect(await takeAt(counter, [20_000, 20_000, 20_000, 20_000])).toEqual([0, 0, 0, 100]);
});

test.for(kinds)("a counter %s counts subjects apart, whatever they are called", async ([, create]) => {
  for (const rate of [
    { calls: 1, inMs: 1000 },
    { calls: 1, inMs: 1000, burst: 1 },
  ]) {
    const counter = create(rate);
    for (const subject of ["", "__proto__", "\0", "a:1", "a", "x".repeat(5000), "\ud83d"]) {
      expect(await counter.take(subject, 10_000)).toBe(0);
      expect(await counter.take(subject, 10_000)).toBeGreaterThan(0);
    }
  }
});

test.for(kinds)("a counter %s takes a call back", async ([, create]) => {
  for (const rate of [
    { calls: 1, inMs: 1000 },
    { calls: 1, inMs: 1000, burst: 1 },
  ]) {
    const counter = create(rate);
    await counter.take("a", 10_000);
    await counter.giveBack("a", 10_000);
    await counter.giveBack("nobody", 10_000);

    expect(await counter.take("a", 10_000)).toBe(0);
  }
});

test.for(kinds)("a counter %s survives a clock that goes back", async ([, create]) => {
  for (const rate of [
    { calls: 2, inMs: 1000 },
    { calls: 2, inMs: 1000, burst: 2 },
  ]) {
    const counter = create(rate);
    const waits = await takeAt(counter, [10_000_000, 10_000, 10_000_000, 10_000, 10_000]);

    expect(waits.every((wait) => Number.isFinite(wait) && wait >= 0)).toBe(true);
  }
});

test.for(kinds)(
  "a bucket %s keeps nobody out for longer than it takes to fill when the clock goes back",
  async ([, create]) => {
    const counter = create({ calls: 2, inMs: 1000, burst: 2 });
    await takeAt(counter, [10_000_000, 10_000_000]);

    expect(await takeAt(counter, [10_000])).toEqual([500]);
  },
);

test.for(kinds)("a window %s forgets nothing when the clock goes back by a moment", async ([, create]) => {
  const counter = create({ calls: 2, inMs: 1000 });
  await takeAt(counter, [10_000, 10_000]);
  await takeAt(counter, [9999]);

  expect(await takeAt(counter, [10_000])).not.toEqual([0]);
});

test("a window in memory never lets through more than twice its calls in its time, nor a bucket more than its burst and rate", () => {
  const steps = fc.array(fc.integer({ min: 0, max: 300 }), { minLength: 1, maxLength: 200 });
  fc.assert(
    fc.property(steps, fc.option(fc.integer({ min: 1, max: 5 }), { nil: undefined }), (gaps, burst) => {
      const rate = { calls: 5, inMs: 1000, ...(burst !== undefined && { burst }) };
      const counter = createRateCounter(rate);
      let now = 1_000_000;
      const taken: number[] = [];
      for (const gap of gaps) {
        now += gap;
        if (counter.take("a", now) === 0) taken.push(now);
      }

      const most = burst === undefined ? 10 : burst + 5;
      for (const start of taken) {
        expect(taken.filter((time) => time >= start && time < start + 1000).length).toBeLessThanOrEqual(most);
      }
    }),
  );
});

test("who waits as long as a counter says gets through", () => {
  const rates = fc.record({ calls: fc.integer({ min: 1, max: 5 }), inMs: fc.integer({ min: 1, max: 2000 }) });
  fc.assert(
    fc.property(rates, fc.boolean(), fc.nat(5000), (rate, isBucket, start) => {
      const counter = createRateCounter({ ...rate, ...(isBucket && { burst: 2 }) });
      let now = start;
      for (let call = 0; call < 20; call++) {
        const wait = counter.take("a", now) as number;
        now += wait;
        if (wait > 0) expect(counter.take("a", now)).toBe(0);
      }
    }),
  );
});

test("counters that share a store count together", async () => {
  const { kv } = memoryStore();
  const limits = [
    { per: "user", calls: 10, inMs: 60_000 },
    { per: "user", calls: 10, inMs: 60_000, burst: 10 },
  ] as const;
  for (const limit of limits) {
    const counters = [createStoreRateCounter(kv, limit), createStoreRateCounter(kv, limit)];

    const takes = Array.from({ length: 15 }, () => counters.map(async (counter) => counter.take("a", 60_000)));
    const waits = await Promise.all(takes.flat());

    expect(waits.filter((wait) => wait === 0)).toHaveLength(10);
  }
});

test("a counter in a store says that the store failed", async () => {
  const { kv } = memoryStore();
  const broken = { ...kv, set: () => Promise.reject(new Error("the disk is full")) };
  const counter = createStoreRateCounter(broken, { per: "user", calls: 1, inMs: 1000, burst: 1 });

  await expect(counter.take("a", 1000)).rejects.toThrow("the disk is full");
});

test("a window in a store reads the window before once, and does not remember too many", async () => {
  const store = memoryStore();
  let reads = 0;
  const kv = { ...store.kv, get: (key: string) => ((reads += 1), store.kv.get(key)) };
  const counter = createStoreRateCounter(kv, { per: "user", calls: 5, inMs: 1000 });
  for (let call = 0; call < 5; call++) await counter.take("a", 10_000);
  const once = reads;
  for (let user = 0; user < 10_001; user++) await counter.take(String(user), 10_000);
  await counter.take("a", 10_000);

  expect(once).toBe(1);
  expect(reads).toBe(10_003);
});

async function takeAt(counter: RateCounter, times: readonly number[]): Promise<number[]> {
  const waits: number[] = [];
  for (const time of times) waits.push(await counter.take("a", time));
  return waits;
}
