import { setTimeout as sleep } from "node:timers/promises";

import { expect, test } from "vitest";

import { createShelf, type Waiting } from "./shelf.ts";

/** What was taken comes first; only then the next one is made. */
const madeMs = 250;

test("take() gives nothing at first, and then what was made ahead, each once", async () => {
  const { shelf, make } = openShelf();

  const first = shelf.take("a", make);
  await sleep(madeMs);
  const [second, third] = [shelf.take("a", make), shelf.take("a", make)];

  expect([first, second?.name, third]).toEqual([undefined, 1, undefined]);
  shelf.close();
});

test("take() keeps as many ready as were needed at once, and no more than it may", async () => {
  const { shelf, make } = openShelf({ mostOfAKind: 2 });

  for (let calls = 0; calls < 5; calls++) shelf.take("a", make);
  await sleep(madeMs);

  expect(shelf.size).toBe(2);
  shelf.close();
});

test("take() gives up what was not used for longest when there is too much", async () => {
  const { shelf, make, made } = openShelf({ most: 2 });
  for (const kind of ["a", "b", "c"]) {
    shelf.take(kind, make);
    await sleep(madeMs);
  }

  expect(made.map(({ isClosed }) => isClosed)).toEqual([true, false, false]);
  shelf.close();
});

test("prepare() makes the first of a kind ready, and no more however often it is called", async () => {
  const { shelf, make, made } = openShelf();

  shelf.prepare("a", make);
  shelf.prepare("a", make);
  await sleep(madeMs);
  shelf.prepare("a", make);
  const first = shelf.take("a", make);

  expect(first?.name).toBe(1);
  expect(made).toHaveLength(1);
  shelf.close();
});

test("take() replaces what died while it waited", async () => {
  const { shelf, make, made } = openShelf();
  shelf.take("a", make);
  await sleep(madeMs);

  made[0]?.die();
  await sleep(madeMs);

  expect(shelf.take("a", make)?.name).toBe(2);
  shelf.close();
});

test("take() does not try for ever to make what cannot be made", async () => {
  const { shelf } = openShelf();
  let tries = 0;
  const fail = async (): Promise<Item> => {
    tries++;
    throw new Error("no");
  };

  for (let calls = 0; calls < 20; calls++) {
    shelf.take("a", fail);
    await sleep(20);
  }
  await sleep(madeMs);

  expect(tries).toBeLessThanOrEqual(8);
  shelf.close();
});

test("createShelf() keeps nothing that nobody uses", async () => {
  const { shelf, make, made } = openShelf({ idleMs: 300 });
  shelf.take("a", make);

  await sleep(900);

  expect(shelf.size).toBe(0);
  expect(made.every(({ isClosed }) => isClosed)).toBe(true);
  shelf.close();
});

test("close() closes all that wait, and nothing is made any more", async () => {
  const { shelf, make, made } = openShelf();
  shelf.take("a", make);
  await sleep(madeMs);

  shelf.close();
  shelf.take("b", make);
  await sleep(madeMs);

  expect(made.map(({ isClosed }) => isClosed)).toEqual([true]);
});

interface Item extends Waiting {
  readonly name: number;
  isClosed: boolean;
  die(): void;
}

function openShelf(options: Parameters<typeof createShelf>[0] = {}) {
  const made: Item[] = [];
  const make = async (): Promise<Item> => {
    const { promise: ended, resolve: die } = Promise.withResolvers<void>();
    const item: Item = { name: made.length + 1, isClosed: false, ended, die, close: () => void (item.isClosed = true) };
    made.push(item);
    return item;
  };
  return { shelf: createShelf<Item>(options), make, made };
}
