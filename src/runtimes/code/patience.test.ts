import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { setImmediate as turn, setTimeout as sleep } from "node:timers/promises";

import { expect, onTestFinished, test } from "vitest";

import { createPatience } from "./patience.ts";

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

  let times = 0;
  while (waits.length === times + 1) {
    patience.use(wait);
    times += 1;
  }

  expect(waits).toHaveLength(times);
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

test("isLeft() is false for a program that lets wait in vain", async () => {
  const patience = createPatience(() => 0);
  const clock = new Int32Array(new SharedArrayBuffer(4));

  for (let times = 0; times < 3; times += 1) {
    patience.use(() => {
      Atomics.wait(clock, 0, 0, 6);
      return false;
    });
    await turn();
  }
  await sleep(40);

  expect(patience.isLeft()).toBe(false);
});

test("isLeft() is true for a program that takes its time and says something", async () => {
  const patience = createPatience(() => 0);
  const clock = new Int32Array(new SharedArrayBuffer(4));

  for (let times = 0; times < 3; times += 1) {
    patience.use(() => {
      Atomics.wait(clock, 0, 0, 6);
      return true;
    });
    await turn();
  }

  expect(patience.isLeft()).toBe(true);
});

test("what comes over connections is something to do", async () => {
  const patience = createPatience();
  const { wait, waits } = recordWaits();
  const clients = await Promise.all([openConnection(), openConnection(), openConnection()]);

  for (const client of clients) client.write("x");
  patience.use(wait);
  await turn();

  expect(waits).toEqual([0]);
  expect(patience.isLeft()).toBe(false);
});

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
