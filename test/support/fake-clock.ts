import type { Clock } from "../../src/platform/clock.ts";

/** A clock that only moves when somebody moves it. */
export interface FakeClock extends Clock {
  /** Lets time pass, and what was due in it happen, in order. */
  advance(ms: number): Promise<void>;
  /** Sets the time of day forward or back, as somebody who corrects it does. */
  jump(ms: number): void;
  /** The same clock, for one process: while `isStopped` says so, its timers wait. */
  forProcess(isStopped: () => boolean): Clock;
}

interface Timer {
  readonly due: number;
  readonly callback: () => void;
  readonly isStopped: () => boolean;
}

/** Makes a clock that stands at some moment in 2023. */
export function createFakeClock(): FakeClock {
  const timers = new Set<Timer>();
  let elapsed = 0;
  let offset = 1_700_000_000_000;

  function next(until: number): Timer | undefined {
    const due = [...timers].filter((timer) => timer.due <= until && !timer.isStopped());
    return due.toSorted((left, right) => left.due - right.due)[0];
  }

  function forProcess(isStopped: () => boolean): Clock {
    return {
      now: () => offset + elapsed,
      elapsed: () => elapsed,
      after(ms, callback) {
        const timer = { due: elapsed + ms, callback, isStopped };
        timers.add(timer);
        return () => void timers.delete(timer);
      },
    };
  }

  return {
    ...forProcess(() => false),
    async advance(ms) {
      const until = elapsed + ms;
      await settled();
      for (let timer = next(until); timer; timer = next(until)) {
        timers.delete(timer);
        elapsed = Math.max(elapsed, timer.due);
        timer.callback();
        await settled();
      }
      elapsed = until;
    },
    jump(ms) {
      offset += ms;
    },
    forProcess,
  };
}

/** Resolves when everything has happened that needs no time. */
export function settled(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
