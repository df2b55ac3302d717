import { afterEach, beforeEach, expect, test, vi } from "vitest";

import { Clock } from "./clock.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test("Clock calls at the deadline, once, and only if somebody watches", () => {
  const rung: number[] = [];
  const watched = new Clock(100, () => rung.push(1));
  const unwatched = new Clock(100, () => rung.push(2));
  watched.watch();
  watched.watch();

  vi.advanceTimersByTime(99);
  const before = [watched.isOver(), unwatched.isOver(), rung.length];
  vi.advanceTimersByTime(1);

  expect(before).toEqual([false, false, 0]);
  expect([watched.isOver(), unwatched.isOver()]).toEqual([true, true]);
  expect(rung).toEqual([1]);
  expect(vi.getTimerCount()).toBe(0);
});

test("Clock stands still while it is held, by however many", () => {
  const rung: number[] = [];
  const clock = new Clock(100, () => rung.push(1));
  clock.watch();

  vi.advanceTimersByTime(60);
  clock.hold();
  clock.hold();
  vi.advanceTimersByTime(10_000);
  clock.release();
  vi.advanceTimersByTime(10_000);
  const whileHeld = [clock.isOver(), rung.length, vi.getTimerCount()];
  clock.release();
  vi.advanceTimersByTime(39);
  const shortBefore = [clock.isOver(), rung.length];
  vi.advanceTimersByTime(1);

  expect(whileHeld).toEqual([false, 0, 0]);
  expect(shortBefore).toEqual([false, 0]);
  expect([clock.isOver(), rung.length]).toEqual([true, 1]);
});

test("Clock notices a deadline that somebody watches for while it is held", () => {
  const rung: number[] = [];
  const clock = new Clock(100, () => rung.push(1));
  clock.hold();
  clock.watch();
  vi.advanceTimersByTime(1000);

  clock.release();
  vi.advanceTimersByTime(100);

  expect(rung).toEqual([1]);
});

test("Clock that nobody watches needs no timer, also after it was held", () => {
  const clock = new Clock(100, () => {});

  clock.hold();
  clock.release();

  expect(vi.getTimerCount()).toBe(0);
});

test("Clock that has ended says nothing any more", () => {
  const rung: number[] = [];
  const held = new Clock(100, () => rung.push(1));
  const running = new Clock(100, () => rung.push(2));
  for (const clock of [held, running]) clock.watch();
  held.hold();

  for (const clock of [held, running]) clock.end();
  held.release();
  const timers = vi.getTimerCount();
  vi.advanceTimersByTime(1000);

  expect(rung).toEqual([]);
  expect(timers).toBe(0);
});

test("Clock goes longer than a timer can, and for ever", () => {
  const rung: string[] = [];
  const month = 30 * 24 * 60 * 60 * 1000;
  new Clock(2 * month, () => rung.push("two months")).watch();
  new Clock(Number.POSITIVE_INFINITY, () => rung.push("for ever")).watch();

  vi.advanceTimersByTime(2 * month - 1);
  const before = [...rung];
  vi.advanceTimersByTime(1);

  expect(before).toEqual([]);
  expect(rung).toEqual(["two months"]);
  expect(vi.getTimerCount()).toBe(0);
});
