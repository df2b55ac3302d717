/** Something that {@link RunClock.after} has started. */
export interface RunTimer {
  cancel(): void;
  /** Lets the process end although the time is not over. */
  unref(): void;
}

/** The time that leases go by, so that a test can make its own. */
export interface RunClock {
  /** Milliseconds since 1970. May jump. */
  now(): number;
  /** Milliseconds since some moment. Never goes back, and never stands still while the process is stopped. */
  elapsed(): number;
  /** Calls `callback` once, when the time is over. */
  after(ms: number, callback: () => void): RunTimer;
}

/** The clock of the machine. */
export const machineClock: RunClock = {
  now: Date.now,
  elapsed: () => performance.now(),
  after(ms, callback) {
    const timer = setTimeout(callback, ms);
    return {
      cancel: () => clearTimeout(timer),
      unref() {
        timer.unref();
      },
    };
  },
};

/** Waits. */
export function wait(clock: RunClock, ms: number): Promise<void> {
  return new Promise((resolve) => {
    clock.after(ms, resolve);
  });
}
