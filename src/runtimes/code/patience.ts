import { performance } from "node:perf_hooks";
// Tests replace the global one, and the event loop turns all the same.
import { setImmediate } from "node:timers";

/**
 * How this thread waits for a program. While it waits nothing else happens here, but neither of the two threads takes the way
 * through the event loop, which takes longer than a quick tool and the program's next step together.
 */
export interface Patience {
  /** Whether to wait: not when others have something to do here, nor for a program that lets wait. */
  isLeft(): boolean;
  /** Waits by `wait`, which tells whether something came: at once, or as soon as the event loop has turned if it is time for that. */
  use(wait: (maxMs: number) => boolean): void;
}

/** The longest wait. The program lets this thread go when it computes; a shorter wait needs a timer of its own, which costs more. */
const longestWaitMs = 5;
/** How long this thread waits for a program again and again until the event loop turns. */
const longestStayMs = 1;
/** How long not to wait after others had something to do. */
const restMs = 20;
/** How long to wait in vain, in all. */
const mostInVainMs = 10;
/** The one that this is about counts when everything about it is done. */
const ownEvents = 1;

/** The clock as it is when this is loaded: nobody may wait for ever because a test has stopped it. */
const now = performance.now.bind(performance);

/** Makes the patience with one program. `countEvents` tells how many events the event loop has had. */
export function createPatience(countEvents = countLoopEvents): Patience {
  let inVainMs = 0;
  let turnsAt = 0;
  let restsUntil = 0;
  let isTurning = false;

  function waitNow(wait: (maxMs: number) => boolean, maxMs: number): void {
    const startedAt = now();
    if (!wait(maxMs)) inVainMs += now() - startedAt;
  }

  return {
    isLeft: () => inVainMs <= mostInVainMs && now() >= restsUntil,
    use(wait) {
      if (isTurning) return;
      if (now() < turnsAt) return waitNow(wait, longestWaitMs);
      isTurning = true;
      const before = countEvents();
      setImmediate(() => {
        isTurning = false;
        turnsAt = now() + longestStayMs;
        const isQuiet = countEvents() - before <= ownEvents;
        if (!isQuiet) restsUntil = now() + restMs;
        waitNow(wait, isQuiet ? longestWaitMs : 0);
      });
    },
  };
}

function countLoopEvents(): number {
  return performance.nodeTiming.uvMetricsInfo.events;
}
