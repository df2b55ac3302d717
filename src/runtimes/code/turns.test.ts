import { expect, test } from "vitest";

import { createTurns } from "./turns.ts";

test("run() lets only so many go on at once, in the order in which they came", async () => {
  const turns = createTurns(2);
  const order: string[] = [];
  const work = (name: string) => async () => {
    order.push(`${name} begins`);
    await new Promise((resolve) => setTimeout(resolve, 5));
    order.push(`${name} ends`);
  };

  await Promise.all(["a", "b", "c"].map((name) => turns.run(work(name), never)));

  expect(order).toEqual(["a begins", "b begins", "a ends", "c begins", "b ends", "c ends"]);
});

test("run() gives the turn back when the work fails", async () => {
  const turns = createTurns(1);

  await expect(turns.run(() => Promise.reject(new Error("no")), never)).rejects.toThrow("no");

  expect(await turns.run(async () => "next", never)).toBe("next");
});

test("run() of one who gave up while waiting never begins, and keeps nobody waiting", async () => {
  const turns = createTurns(1);
  const gone = new AbortController();
  let finish = (): void => {};
  const first = turns.run(() => new Promise<void>((resolve) => (finish = resolve)), never);
  const second = turns.run(async () => "never", gone.signal);
  const third = turns.run(async () => "third", never);

  await Promise.resolve();
  gone.abort(new Error("gave up"));
  finish();

  await expect(second).rejects.toThrow("gave up");
  await first;
  expect(await third).toBe("third");
});

test("run() of one who gave up before does not begin", async () => {
  await expect(createTurns(1).run(async () => 1, AbortSignal.abort(new Error("gone")))).rejects.toThrow("gone");
});

const never = new AbortController().signal;
