import { setTimeout as sleep } from "node:timers/promises";

import { expect, test, vi } from "vitest";

import { createWatch } from "./server-connection.ts";

test("expect() breaks a connection that is silent, and says why", async () => {
  const { socket, answer } = createSocket();
  const watch = createWatch(socket, 50);

  const waiting = watch.expect(answer.promise);

  await expect(waiting).rejects.toThrow("destroyed");
  expect(watch.lostBecause()?.message).toBe("it has not answered for 50 ms");
});

test("expect() leaves a connection alone on which bytes come, however long the answer takes", async () => {
  const { socket, answer, destroy } = createSocket();
  const waiting = createWatch(socket, 50).expect(answer.promise);
  for (let count = 0; count < 20; count++) {
    await sleep(10);
    socket.bytesRead += 1;
  }
  answer.resolve("late");

  expect(await waiting).toBe("late");
  expect(destroy).not.toHaveBeenCalled();
});

test("expect() gives a long question the time to get there", async () => {
  const { socket, answer, destroy } = createSocket();
  const waiting = createWatch(socket, 50).expect(answer.promise, 20 * 1024 * 1024);
  await sleep(300);
  answer.resolve("late");

  expect(await waiting).toBe("late");
  expect(destroy).not.toHaveBeenCalled();
});

test("expect() looks at nothing while no answer is expected", async () => {
  const { socket, answer, destroy } = createSocket();
  const watch = createWatch(socket, 20);
  answer.resolve("at once");
  await watch.expect(answer.promise);

  await sleep(100);

  expect(destroy).not.toHaveBeenCalled();
  expect(watch.lostBecause()).toBeUndefined();
});

/** A connection whose question fails when it is broken. */
function createSocket() {
  const answer = Promise.withResolvers<string>();
  const destroy = vi.fn(() => answer.reject(new Error("destroyed")));
  return { answer, destroy, socket: { bytesRead: 0, destroy } };
}
