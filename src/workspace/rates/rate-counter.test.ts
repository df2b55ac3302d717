import fc from "fast-check";
import { expect, test } from "vitest";

import type { ToolRate } from "../../core/tool.ts";
import { memoryStore } from "../../store/memory-store.ts";
import { createRateCounter, type RateCounter } from "./rate-counter.ts";

test("a sliding window lets through so many at once, and says when there is room", async () => {
  const counter = create({ calls: 3, inMs: 1000 });

  const waits = await takeAt(counter, [10_000, 10_050, 10_100, 10_200, 10_999, 11_000, 11_000, 11_050]);

  expect(waits).toEqual([0, 0, 0, 800, 1, 0, 50, 0]);
});

test("a sliding window of many calls counts them, and says when there is room", async () => {
  const counter = create({ calls: 300, inMs: 1000 });
  await takeAt(counter, Array<number>(299).fill(10_000));

  const waits = await takeAt(counter, [10_100, 10_200, 10_999, 11_001, 11_002]);

  // The window is full until it ends; then a three-hundredth of it has to pass for each.
  expect(waits).toEqual([0, 804, 5, 3, 2]);
  expect(await takeAt(counter, [11_004, 11_004, 11_500, 11_500])).toEqual([0, 3, 0, 0]);
});

test("a sliding window forgets after two windows", async () => {
  for (const calls of [2, 200]) {
    const counter = create({ calls, inMs: 1000 });
    await takeAt(counter, Array<number>(calls).fill(10_000));

    const waits = await takeAt(counter, Array<number>(calls).fill(12_000));
    expect(waits.every((wait) => wait === 0)).toBe(true);
  }
});

test("a window lets a caller through as often as it says who waits as told, and never more often", async () => {
  for (const calls of [1, 2, 3, 10, 100, 101, 300]) {
    const rate = { calls, inMs: 60_000 };
    const windows = 20;
    const taken = await callFor(create(rate), 1_000_123 + 60_000 * windows);

    // The first come at once: the rest shows how it goes on.
    const perWindow = (taken.length - calls) / (windows - 1);
    expect(perWindow).toBeGreaterThanOrEqual(0.9 * calls);
    expect(perWindow).toBeLessThanOrEqual(1.1 * calls);
  }
});

test("a window of up to 100 calls never has more of them in its time", async () => {
  const steps = fc.array(fc.integer({ min: 0, max: 300 }), { minLength: 1, maxLength: 100 });
  await fc.assert(
    fc.asyncProperty(steps, fc.integer({ min: 1, max: 6 }), async (gaps, calls) => {
      const counter = create({ calls, inMs: 1000 });
      let now = 1_000_000;
      const taken: number[] = [];
      for (const gap of gaps) {
        now += gap;
        if ((await counter.take("a", now)) === 0) taken.push(now);
      }

      for (const start of taken) {
        expect(taken.filter((time) => time >= start && time < start + 1000).length).toBeLessThanOrEqual(calls);
      }
    }),
  );
});

test("a bucket lets through a burst, then one at a time", async () => {
  const counter = create({ calls: 10, inMs: 1000, burst: 3 });

  expect(await takeAt(counter, [10_000, 10_000, 10_000, 10_000, 10_050, 10_100, 10_100])).toEqual([
    0, 0, 0, 100, 50, 0, 100,
  ]);
  expect(await takeAt(counter, [20_000, 20_000, 20_000, 20_000])).toEqual([0, 0, 0, 100]);
});

test("a counter counts subjects apart, whatever they are called", async () => {
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

test("a counter takes a call back", async () => {
  for (const rate of [
    { calls: 1, inMs: 1000 },
    { calls: 101, inMs: 1000 },
    { calls: 1, inMs: 1000, burst: 1 },
  ]) {
    const counter = create(rate);
    while ((await counter.take("a", 10_000)) === 0);
    await counter.giveBack("a", 10_000);
    await counter.giveBack("nobody", 10_000);

    expect(await counter.take("a", 10_000)).toBe(0);
    expect(await counter.take("a", 10_000)).toBeGreaterThan(0);
  }
});

test("a counter survives a clock that goes back", async () => {
  for (const rate of [
    { calls: 2, inMs: 1000 },
    { calls: 200, inMs: 1000 },
    { calls: 2, inMs: 1000, burst: 2 },
  ]) {
    const counter = create(rate);
    const waits = await takeAt(counter, [10_000_000, 10_000, 10_000_000, 10_000, 10_000]);

    expect(waits.every((wait) => Number.isFinite(wait) && wait >= 0)).toBe(true);
  }
});

test("a bucket keeps nobody out for longer than it takes to fill when the clock goes back", async () => {
  const counter = create({ calls: 2, inMs: 1000, burst: 2 });
  await takeAt(counter, [10_000_000, 10_000_000]);

  expect(await takeAt(counter, [10_000])).toEqual([500]);
});

test("a window keeps nobody out for longer than its time when the clock goes back", async () => {
  const counter = create({ calls: 2, inMs: 1000 });
  await takeAt(counter, [10_000_000, 10_000_000]);

  expect(await takeAt(counter, [10_000, 10_600, 11_000])).toEqual([1000, 400, 0]);
});

test("a window forgets nothing when the clock goes back by a moment", async () => {
  for (const calls of [2, 200]) {
    const counter = create({ calls, inMs: 1000 });
    await takeAt(counter, Array<number>(calls).fill(10_000));
    await takeAt(counter, [9999, 9998]);

    expect(await takeAt(counter, [10_000])).not.toEqual([0]);
  }
});

test("a window of many calls never lets through more than twice as many in its time, nor a bucket more than its burst and rate", async () => {
  const steps = fc.array(fc.integer({ min: 0, max: 15 }), { minLength: 1, maxLength: 500 });
  await fc.assert(
    fc.asyncProperty(steps, fc.option(fc.integer({ min: 1, max: 5 }), { nil: undefined }), async (gaps, burst) => {
      const rate = burst === undefined ? { calls: 101, inMs: 1000 } : { calls: 5, inMs: 1000, burst };
      const counter = create(rate);
      let now = 1_000_000;
      const taken: number[] = [];
      for (const gap of gaps) {
        now += gap;
        if ((await counter.take("a", now)) === 0) taken.push(now);
      }

      const most = burst === undefined ? 202 : burst + 5;
      for (const start of taken) {
        expect(taken.filter((time) => time >= start && time < start + 1000).length).toBeLessThanOrEqual(most);
      }
    }),
  );
});

test("who waits as long as a counter says gets through", async () => {
  const rates = fc.record({ calls: fc.integer({ min: 1, max: 5 }), inMs: fc.integer({ min: 1, max: 2000 }) });
  await fc.assert(
    fc.asyncProperty(rates, fc.boolean(), fc.nat(5000), async (rate, isBucket, start) => {
      const counter = create({ ...rate, ...(isBucket && { burst: 2 }) });
      let now = start;
      for (let call = 0; call < 20; call++) {
        const wait = await counter.take("a", now);
        now += wait;
        if (wait > 0) expect(await counter.take("a", now)).toBe(0);
      }
    }),
  );
});

test("counters that share a store count together", async () => {
  const { kv } = memoryStore();
  const limits = [
    { per: "user", calls: 10, inMs: 60_000 },
    { per: "user", calls: 101, inMs: 60_000 },
    { per: "user", calls: 10, inMs: 60_000, burst: 10 },
  ] as const;
  for (const limit of limits) {
    const counters = [createRateCounter(kv, limit), createRateCounter(kv, limit)];

    const takes = Array.from({ length: 60 }, () => counters.map(async (counter) => counter.take("a", 60_000)));
    const waits = await Promise.all(takes.flat());

    expect(waits.filter((wait) => wait === 0)).toHaveLength(limit.calls);
  }
});

test("a counter in a store says that the store failed", async () => {
  const { kv } = memoryStore();
  let isFull = true;
  const set: typeof kv.set = (...given) => (isFull ? Promise.reject(new Error("the disk is full")) : kv.set(...given));
  const bucket = createRateCounter({ ...kv, set }, { per: "user", calls: 1, inMs: 1000, burst: 1 });
  const window = createRateCounter({ ...kv, set }, { per: "user", calls: 1, inMs: 1000 });

  for (const counter of [bucket, window]) {
    isFull = true;
    await expect(counter.take("a", 1000)).rejects.toThrow("the disk is full");
    isFull = false;
    expect(await takeAt(counter, [1000, 1000])).toEqual([0, 1000]);
  }
});

test("a window in a store writes once for each call that may, or for many at once, and not for those that may not", async () => {
  const store = memoryStore();
  let reads = 0;
  let writes = 0;
  const kv = {
    ...store.kv,
    get: (key: string) => ((reads += 1), store.kv.get(key)),
    set: (...given: Parameters<typeof store.kv.set>) => ((writes += 1), store.kv.set(...given)),
  };
  const counter = createRateCounter(kv, { per: "user", calls: 50, inMs: 60_000 });
  await takeAt(counter, [1000, 1001, 1002]);
  const oneByOne = [reads, writes];
  await Promise.all(Array.from({ length: 100 }, async () => counter.take("a", 1003)));
  const together = [reads, writes];
  await takeAt(counter, [1004, 1005]);
  const refused = [reads, writes];
  await takeAt(counter, [90_000]);

  expect([oneByOne, together, refused]).toEqual([
    [1, 3],
    [1, 5],
    [1, 5],
  ]);
  // What was known has expired.
  expect([reads, writes]).toEqual([2, 6]);
});

test.for([5, 500])(
  "a window in a store of %d calls reads what it needs once, and does not remember too many",
  async (calls) => {
    const store = memoryStore();
    let reads = 0;
    const kv = { ...store.kv, get: (key: string) => ((reads += 1), store.kv.get(key)) };
    const counter = createRateCounter(kv, { per: "user", calls, inMs: 1000 });
    for (let call = 0; call < 5; call++) await counter.take("a", 10_000);
    const once = reads;
    for (let user = 0; user < 10_001; user++) await counter.take(String(user), 10_000);
    await counter.take("a", 10_000);

    expect(once).toBe(1);
    expect(reads).toBe(10_003);
  },
);

/** Counts the calls of users, in memory. */
function create(rate: ToolRate): RateCounter {
  return createRateCounter(memoryStore().kv, { ...rate, per: "user" });
}

/** The moments of the calls of a caller who begins at 1,000,123 and waits as long as the counter says. */
async function callFor(counter: RateCounter, until: number): Promise<number[]> {
  const taken: number[] = [];
  for (let now = 1_000_123; now < until;) {
    const wait = await counter.take("a", now);
    if (wait === 0) taken.push(now);
    now += wait;
  }
  return taken;
}

async function takeAt(counter: RateCounter, times: readonly number[]): Promise<number[]> {
  const waits: number[] = [];
  for (const time of times) waits.push(await counter.take("a", time));
  return waits;
}
