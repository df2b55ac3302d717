import { MessageChannel, Worker } from "node:worker_threads";

import { expect, onTestFinished, test } from "vitest";

import { createDesk, createExchange, type Exchange } from "./exchange.ts";

const sizes = [0, 1, 30, 16_383, 16_384, 16_385, 100_000];

test("send() hands over each text once, in order, whether the other thread waits or not", async () => {
  const { exchange, next } = startEcho();
  const texts = Array.from(
    { length: 500 },
    (_, index) => `${index}:${"é€😀".repeat(index % 7 === 0 ? 3000 : index % 50)}`,
  );

  for (const text of texts) {
    exchange.send(text);
    // Now it is waited for here, now the event loop brings it.
    if (text.length % 2 === 0) exchange.release();
    if (text.length % 3 === 0) exchange.wait(0.1);
    if (text.length % 5 === 0) await new Promise((resolve) => setTimeout(resolve, 1));
  }
  const echoed = await next(texts.length);

  expect(echoed).toEqual(texts);
});

test.for(sizes)("wait() hands on a text of %d characters", async (size) => {
  const { exchange, next, received } = startEcho();
  exchange.send("first");
  await next(1);

  exchange.send("€".repeat(size));
  while (received.length < 2) exchange.wait(50);

  expect(received[1]).toBe("€".repeat(size));
});

test("wait() gives up when nothing comes", async () => {
  const { exchange, next } = startEcho();
  exchange.send("first");
  await next(1);

  expect(exchange.wait(1)).toBe(false);
});

test("wait() gives up when the other thread has ended", async () => {
  const { exchange, next, thread } = startEcho();
  exchange.send("first");
  await next(1);
  await thread.terminate();

  exchange.send("second");

  expect(exchange.wait(1)).toBe(false);
});

test.for(sizes)("leave() hands on a text of %d characters that came before anybody waited", async (size) => {
  const { exchange, next, received } = startEcho();
  exchange.send("first");
  await next(1);

  exchange.announce();
  exchange.send("€".repeat(size));
  await new Promise((resolve) => setTimeout(resolve, 20));
  exchange.leave();
  await next(2);

  expect(received[1]).toBe("€".repeat(size));
});

test("announce() keeps the order of texts, whether it comes to waiting or not", async () => {
  const { exchange, next } = startEcho();
  const texts = Array.from({ length: 600 }, (_, index) => `${index}:${"€".repeat(index % 3 === 0 ? 17_000 : 10)}`);

  for (const [index, text] of texts.entries()) {
    exchange.announce();
    exchange.send(text);
    if (index % 2 === 0) exchange.wait(1);
    if (index % 5 === 0) await new Promise((resolve) => setTimeout(resolve, 1));
    exchange.leave();
  }
  const echoed = await next(texts.length);

  expect(echoed).toEqual(texts);
});

test("release() lets a thread go on that waits", async () => {
  const { exchange, next } = startEcho();
  exchange.send("first");
  await next(1);

  exchange.announce();
  exchange.send("release");

  expect(exchange.wait(60_000)).toBe(false);
});

test("release() lets a thread go on that has only said that it will wait", async () => {
  const { exchange, next } = startEcho();
  exchange.send("first");
  await next(1);

  exchange.announce();
  exchange.send("release");
  await new Promise((resolve) => setTimeout(resolve, 50));

  expect(exchange.wait(60_000)).toBe(false);
});

test("release() takes no text away from a thread that waits", async () => {
  const { exchange, next } = startEcho();
  const texts = Array.from({ length: 600 }, (_, index) => `${index}`);

  for (const text of texts) {
    exchange.announce();
    exchange.send(text);
    exchange.send("release");
    exchange.wait(1);
    exchange.leave();
  }

  expect(await next(texts.length)).toEqual(texts);
});

test("wait() hands on one text at a time, so that nobody who sends without end holds up everything else", async () => {
  const { exchange, next, received } = startEcho();
  exchange.send("first");
  await next(1);
  const texts = Array.from({ length: 50 }, (_, index) => `${index}`);
  for (const text of texts) exchange.send(text);
  await new Promise((resolve) => setImmediate(resolve));
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100);
  const before = received.length;

  exchange.wait(1);

  expect(received.length - before).toBeLessThanOrEqual(1);
  expect(await next(51)).toEqual(["first", ...texts]);
});

test("wait() waits again after a text that lay there before it began", async () => {
  const { exchange, next, received } = startEcho();
  exchange.send("first");
  await next(1);
  exchange.announce();
  exchange.send("second");
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 50);
  exchange.wait(1);
  const before = received.length;

  exchange.send("third");
  const hasCome = exchange.wait(60_000);

  expect([before, hasCome, received.length]).toEqual([2, true, 3]);
});

test("wait() lets the other thread go on that waits, too", async () => {
  const { exchange, next } = startEcho();
  exchange.send("first");
  await next(1);

  exchange.announce();
  exchange.send("wait");

  expect(exchange.wait(60_000)).toBe(false);
  exchange.send("second");
  expect(await next(2)).toEqual(["first", "second"]);
});

interface Echo {
  readonly exchange: Exchange;
  readonly thread: Worker;
  readonly received: readonly string[];
  /** Waits until so many texts have come, and answers with all of them. */
  next(count: number): Promise<readonly string[]>;
}

/** A thread that sends back what it gets, but does what `wait` and `release` say; after each text it waits a moment for the next. */
function startEcho(): Echo {
  const { port1, port2 } = new MessageChannel();
  const [there, back] = [createDesk(), createDesk()];
  const program = `const { workerData } = require("node:worker_threads");
    import(workerData.module).then(({ createExchange }) => {
      const exchange = createExchange(workerData.ends);
      let isWaiting = false;
      exchange.listen((text) => {
        if (text === "release") return exchange.release();
        if (text === "wait") exchange.wait(60_000);
        else exchange.send(text);
        if (isWaiting) return;
        isWaiting = true;
        while (exchange.wait(0.3));
        isWaiting = false;
      });
    });`;
  const thread = new Worker(program, {
    eval: true,
    workerData: {
      module: new URL("exchange.ts", import.meta.url).href,
      ends: { port: port2, inbox: there, outbox: back },
    },
    transferList: [port2],
  });
  onTestFinished(async () => void (await thread.terminate()));
  const exchange = createExchange({ port: port1, inbox: back, outbox: there });
  const received: string[] = [];
  let onText = (): void => {};
  exchange.listen((text) => {
    received.push(text);
    onText();
  });
  return {
    exchange,
    thread,
    received,
    async next(count) {
      while (received.length < count) {
        await new Promise<void>((resolve) => {
          onText = resolve;
        });
      }
      return received;
    },
  };
}
