import { setTimeout as wait } from "node:timers/promises";

import { expect, test } from "vitest";

import { collectHints } from "./collect-hints.ts";

test("collectHints() tells all paths once, when it is quiet", async () => {
  const told: (readonly string[])[] = [];
  const { hint } = collectHints((paths) => told.push(paths), { settleMs: 20 });

  hint("/a");
  hint("/b");
  hint("/a");
  await wait(100);

  expect(told).toEqual([["/a", "/b"]]);
});

test("collectHints() tells no paths if one of the changes is unknown", async () => {
  const told: (readonly string[])[] = [];
  const { hint } = collectHints((paths) => told.push(paths), { settleMs: 5 });

  hint("/a");
  hint();
  await wait(60);
  hint("/b");
  await wait(60);

  expect(told).toEqual([[], ["/b"]]);
});

test("collectHints() does not wait for ever while changes go on", async () => {
  let told = 0;
  const { hint, close } = collectHints(() => (told += 1), { settleMs: 50, longestMs: 100 });

  for (const end = performance.now() + 500; performance.now() < end;) {
    hint("/a");
    await wait(5);
  }
  close();

  expect(told).toBeGreaterThan(1);
});

test("close() forgets what was not told, and hears nothing more", async () => {
  let told = 0;
  const { hint, close } = collectHints(() => (told += 1), { settleMs: 5 });

  hint("/a");
  close();
  hint("/b");
  await wait(50);

  expect(told).toBe(0);
});
