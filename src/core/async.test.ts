import { expect, test } from "vitest";

import { backOffMs, createMutex, createSemaphore, untilAborted, untilTimeout } from "./async.ts";

test("createMutex() does one after the other, also when one of them throws", async () => {
  const order: string[] = [];
  const lock = createMutex();

  const done = await Promise.allSettled(
    ["a", "b"].map(async (name) =>
      lock(async () => {
        order.push(`${name} begins`);
        await Promise.resolve();
        order.push(`${name} ends`);
        if (name === "a") throw new Error("left");
        return name;
      }),
    ),
  );

  expect(order).toEqual(["a begins", "a ends", "b begins", "b ends"]);
  expect(done.map(({ status }) => status)).toEqual(["rejected", "fulfilled"]);
});

test("createSemaphore() lets only so many go on at once, in the order in which they came", async () => {
  const semaphore = createSemaphore(2);
  const order: string[] = [];
  const work = (name: string) => async () => {
    order.push(`${name} begins`);
    await new Promise((resolve) => setTimeout(resolve, 5));
    order.push(`${name} ends`);
  };

  await Promise.all(["a", "b", "c"].map((name) => semaphore.run(work(name), never)));

  expect(order).toEqual(["a begins", "b begins", "a ends", "c begins", "b ends", "c ends"]);
});

test("createSemaphore() gives the permit back when the work fails", async () => {
  const semaphore = createSemaphore(1);

  await expect(semaphore.run(() => Promise.reject(new Error("no")))).rejects.toThrow("no");

  expect(await semaphore.run(async () => "next")).toBe("next");
});

test("run() of a caller that aborts while it waits never begins, and does not hold up the next", async () => {
  const semaphore = createSemaphore(1);
  const stop = new AbortController();
  let finish = (): void => {};
  const first = semaphore.run(() => new Promise<void>((resolve) => (finish = resolve)));
  const second = semaphore.run(async () => "never", stop.signal);
  const third = semaphore.run(async () => "third");

  await Promise.resolve();
  stop.abort(new Error("gave up"));
  finish();

  await expect(second).rejects.toThrow("gave up");
  await first;
  expect(await third).toBe("third");
});

test("run() and take() reject at once with a signal that was aborted", async () => {
  const semaphore = createSemaphore(1);
  const aborted = AbortSignal.abort(new Error("gone"));

  await expect(semaphore.run(() => 1, aborted)).rejects.toThrow("gone");
  await expect(semaphore.take(aborted)).rejects.toThrow("gone");
  expect(semaphore.tryTake()).toBeDefined();
});

test("tryTake() takes nothing while a caller waits", async () => {
  const semaphore = createSemaphore(1);
  const release = await semaphore.take();
  const next = semaphore.take(never);

  expect(semaphore.tryTake()).toBeUndefined();
  release();
  expect(semaphore.tryTake()).toBeUndefined();
  (await next)();

  expect(semaphore.tryTake()).toBeDefined();
});

test("untilAborted() answers what the work answers, or rejects as it does", async () => {
  await expect(untilAborted(Promise.resolve(1), never)).resolves.toBe(1);
  await expect(untilAborted(Promise.resolve(1), undefined)).resolves.toBe(1);
  await expect(untilAborted(Promise.reject(new Error("no")), never)).rejects.toThrow("no");
});

test("untilAborted() rejects with the reason of the signal, and ignores how the work ends", async () => {
  const stop = new AbortController();
  const { promise, reject } = Promise.withResolvers<void>();
  const waited = untilAborted(promise, stop.signal);

  stop.abort(new Error("stopped"));
  reject(new Error("later"));

  await expect(waited).rejects.toThrow("stopped");
  await expect(untilAborted(Promise.resolve(1), stop.signal)).rejects.toThrow("stopped");
});

test("untilTimeout() answers what the work answers in time, else what `late` answers or throws", async () => {
  const endless = new Promise<string>(() => {});

  expect(await untilTimeout(Promise.resolve("in time"), Infinity, () => "late")).toBe("in time");
  expect(await untilTimeout(endless, 1, () => "late")).toBe("late");
  await expect(
    untilTimeout(endless, 1, () => {
      throw new Error("too late");
    }),
  ).rejects.toThrow("too late");
});

test("backOffMs() doubles up to a limit, between half and all of it", () => {
  const waits = (random: () => number): number[] =>
    [1, 2, 3, 4].map((attempt) => backOffMs(attempt, { firstMs: 100, maxMs: 300 }, random));

  expect(waits(() => 1)).toEqual([100, 200, 300, 300]);
  expect(waits(() => 0)).toEqual([50, 100, 150, 150]);
  expect(backOffMs(1, { firstMs: 100, maxMs: 300 })).toBeLessThanOrEqual(100);
});

const never = new AbortController().signal;
