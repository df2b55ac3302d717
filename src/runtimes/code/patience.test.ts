import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { setImmediate as turn, setTimeout as sleep } from "node:timers/promises";

import { expect, onTestFinished, test } from "vitest";

import { createPatience, type Patience } from "./answer-calls.ts";

test("use() waits when the event loop has turned, and at once right after that", async () => {
  const patience = createPatience(() => 0);
  const { wait, waits } = recordWaits();

  patience.use(wait);
  const before = waits.length;
  await turn();
  const afterTurn = waits.length;
  patience.use(wait);

  expect([before, afterTurn, waits.length]).toEqual([0, 1, 2]);
  expect(waits.every((maxMs) => maxMs > 0)).toBe(true);
});

test("use() lets the event loop turn before it waits for a second time at once", async () => {
  const patience = createPatience(() => 0);
  const { wait, waits } = recordWaits();

  patience.use(wait);
  patience.use(wait);
  await turn();

  expect(waits).toHaveLength(1);
});

test("use() lets the event loop turn again and again", async () => {
  const patience = createPatience(() => 0);
  const { wait, waits } = recordWaits();
  patience.use(wait);
  await turn();

  stay(patience, wait, waits);
  const times = waits.length;
  await turn();

  expect(waits).toHaveLength(times + 1);
});

test("isLeft() is false for a while when others have something to do, and nobody waits for the program then", async () => {
  let events = 0;
  const patience = createPatience(() => (events += 5));
  const { wait, waits } = recordWaits();

  patience.use(wait);
  await turn();
  const isLeftThen = patience.isLeft();
  await sleep(40);

  expect([isLeftThen, patience.isLeft()]).toEqual([false, true]);
  expect(waits).toEqual([0]);
});

test("isLeft() does not mind the event that led to the program, but any that came while it was waited for", async () => {
  let events = 0;
  const patience = createPatience(() => events);
  const { wait, waits } = recordWaits();

  patience.use(wait);
  events += 1;
  await turn();
  const isLeftThen = patience.isLeft();
  // No event leads from here to the next turn.
  stay(patience, wait, waits);
  events += 1;
  await turn();

  expect([isLeftThen, patience.isLeft()]).toEqual([true, false]);
  expect(waits.at(-1)).toBe(0);
});

test.for([
  ["in vain", 6, false, false],
  ["long, whatever comes then", 6, true, false],
  ["not long, but often", 0.01, true, true],
] as const)("isLeft() for a program that lets wait %s", async ([, ms, hasCome, isLeft]) => {
  const patience = createPatience(() => 0);

  for (let times = 0; times < 50; times += 1) {
    patience.use(() => {
      const until = performance.now() + ms;
      while (performance.now() < until);
      return hasCome;
    });
    await turn();
  }

  expect(patience.isLeft()).toBe(isLeft);
});

test("what comes over connections is something to do", async () => {
  const patience = createPatience();
  const { wait, waits } = recordWaits();
  const clients = await Promise.all([openConnection(), openConnection(), openConnection()]);
  // So that nothing of that comes later.
  for (let times = 0; times < 5; times += 1) await turn();

  for (const client of clients) client.write("x");
  patience.use(wait);
  await turn();

  expect(waits).toEqual([0]);
  expect(patience.isLeft()).toBe(false);
});

/** Waits for the program again and again, until it is time for the event loop. */
function stay(patience: Patience, wait: (maxMs: number) => boolean, waits: readonly number[]): void {
  let before = -1;
  while (waits.length > before) {
    before = waits.length;
    patience.use(wait);
  }
}

/** Waits that are over at once, with something that came. */
function recordWaits(): { readonly waits: readonly number[]; wait(maxMs: number): boolean } {
  const waits: number[] = [];
  return {
    waits,
    wait(maxMs) {
      waits.push(maxMs);
      return true;
    },
  };
}

async function openConnection(): Promise<Socket> {
  const server = createServer((socket) => socket.resume()).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { readonly port: number };
  const client = connect(port, "127.0.0.1");
  await Promise.all([once(client, "connect"), once(server, "connection")]);
  onTestFinished(() => {
    client.destroy();
    server.close();
  });
  return client;
}
