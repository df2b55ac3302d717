import { expect, test } from "vitest";

import { createTurns } from "./wasm-host.ts";

test("createTurns() gives as many turns as there are, and the next in the order of asking", async () => {
  const turns = createTurns(2);
  const order: string[] = [];
  const first = turns.tryTake();
  turns.tryTake();

  const waiting = ["one", "two"].map((name) => turns.take(never).then((release) => [order.push(name), release()]));
  const denied = turns.tryTake();
  first?.();
  await Promise.all(waiting);

  expect(denied).toBeUndefined();
  expect(order).toEqual(["one", "two"]);
});

test("createTurns() lets nobody jump the line", async () => {
  const turns = createTurns(1);
  const first = turns.tryTake();
  const waiting = turns.take(never);

  first?.();
  const jumped = turns.tryTake();
  const release = await waiting;

  expect(jumped).toBeUndefined();
  release();
  expect(turns.tryTake()).toBeDefined();
});

test("take() rejects with the reason when its signal aborts, and gives its place to the next", async () => {
  const turns = createTurns(1);
  const first = turns.tryTake();
  const controller = new AbortController();
  const gone = turns.take(controller.signal);
  const next = turns.take(never);

  controller.abort(new Error("enough"));
  first?.();

  await expect(gone).rejects.toThrow("enough");
  await expect(next).resolves.toBeDefined();
});

test("take() rejects at once when its signal is aborted already", async () => {
  const turns = createTurns(1);
  turns.tryTake();

  await expect(turns.take(AbortSignal.abort(new Error("before")))).rejects.toThrow("before");
});

const never = new AbortController().signal;
