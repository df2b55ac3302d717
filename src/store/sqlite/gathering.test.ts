import { expect, test } from "vitest";

import { createGathering, gatherMs } from "./gathering.ts";

test("isUseful() says no to one who writes alone, and to those who come after a pause", () => {
  const { gathering, pass } = setUp();

  gathering.note(1);
  const alone = gathering.isUseful(1);
  gathering.note(5);
  pass(gatherMs);

  expect([alone, gathering.isUseful(5)]).toEqual([false, false]);
});

test("isUseful() says yes as long as more come meanwhile", () => {
  const { gathering } = setUp();
  gathering.note(5);

  const answers = Array.from({ length: 10 }, () => {
    const isUseful = gathering.isUseful(3);
    gathering.note(6);
    return isUseful;
  });

  expect(answers).not.toContain(false);
});

test("isUseful() says no for a while after nobody came", () => {
  const { gathering } = setUp();
  gathering.note(8);
  const first = gathering.isUseful(8);
  gathering.note(8);

  const answers = Array.from({ length: 65 }, () => {
    const isUseful = gathering.isUseful(8);
    gathering.note(8);
    return isUseful;
  });

  expect(first).toBe(true);
  expect(answers.indexOf(true)).toBe(64);
});

/** A clock that stands still but for `pass`. */
function setUp(): { gathering: ReturnType<typeof createGathering>; pass: (ms: number) => void } {
  let time = 1000;
  return { gathering: createGathering(() => time), pass: (ms) => void (time += ms) };
}
