import { setTimeout as wait } from "node:timers/promises";

import { expect, test } from "vitest";

import { createLookout, type Lookout } from "./lookout.ts";

test("isUseful() is true as long as what is looked for is there in time", () => {
  const lookout = createLookout(2);

  const useful = Array.from({ length: 100 }, () => tryOnce(lookout, true));

  expect(useful).not.toContain(false);
});

test("isUseful() is false ever more often after looking in vain", () => {
  const lookout = createLookout(2);

  const useful = Array.from({ length: 200 }, () => tryOnce(lookout, false));

  expect(useful.filter(Boolean).length).toBeLessThan(8);
});

test("isUseful() is true again after it was of use once", () => {
  const lookout = createLookout(2);
  for (let times = 0; times < 20; times += 1) tryOnce(lookout, false);
  while (!lookout.isUseful());
  lookout.learn(true);

  expect(lookout.isUseful()).toBe(true);
});

test("isUseful() forgets what is long ago", async () => {
  const lookout = createLookout(2);
  for (let times = 0; times < 50; times += 1) tryOnce(lookout, false);

  await wait(250);

  expect(lookout.isUseful()).toBe(true);
});

test("isUseful() is false where there is only one processor", () => {
  expect(createLookout(1).isUseful()).toBe(false);
});

function tryOnce(lookout: Lookout, isSeen: boolean): boolean {
  const isUseful = lookout.isUseful();
  if (isUseful) lookout.learn(isSeen);
  return isUseful;
}
