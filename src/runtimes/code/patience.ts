import { performance } from "node:perf_hooks";
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
/** A wait that is longer was too long, even if something came in the end; and how much there may be of those, and of waits in vain. */
const quickMs = 0.25;
const mostSpentMs = 10;

/** The clock and the event loop as they are when this is loaded: nobody may wait for ever because a test has stopped them. */
const now = performance.now.bind(performance);
const onTurn = setImmediate;

/** Makes the patience with one program. `countEvents` tells how many events the event loop has had. */
export function createPatience(countEvents = countLoopEvents): Patience {
  let spentMs = 0;
  let turnsAt = 0;
  let restsUntil = 0;
  let isTurning = false;
  /** Whether nothing but this program has happened here since the event loop turned. */
  let hasTurned = false;

  function waitNow(wait: (maxMs: number) => boolean, maxMs: number): void {
    const startedAt = now();
    const hasCome = wait(maxMs);
    const ms = now() - startedAt;
    if (!hasCome || ms > quickMs) spentMs += ms;
  }

  function turn(wait: (maxMs: number) => boolean): void {
    isTurning = true;
    const before = countEvents();
    // An event counts when everything about it is done, so the one that led here does not yet.
    const own = hasTurned ? 0 : 1;
    onTurn(() => {
      isTurning = false;
      hasTurned = true;
      onTurn(() => {
        hasTurned = false;
      });
      turnsAt = now() + longestStayMs;
      const isQuiet = countEvents() - before <= own;
      if (!isQuiet) restsUntil = now() + restMs;
      waitNow(wait, isQuiet ? longestWaitMs : 0);
    });
  }

  return {
    isLeft: () => spentMs <= mostSpentMs && now() >= restsUntil,
    use(wait) {
      if (isTurning) return;
      if (now() < turnsAt) waitNow(wait, longestWaitMs);
      else turn(wait);
    },
  };
}

function countLoopEvents(): number {
  return performance.nodeTiming.uvMetricsInfo.events;
}
