import { performance } from "node:perf_hooks";
import { setImmediate } from "node:timers";

import { createBatch, type Answer } from "./inside/program/messages.ts";
import type { Exchange } from "./inside/program/exchange.ts";

/** What a program needs while it runs. */
export interface ProgramHost {
  /** Calls a tool; `settle` takes its output or its failure, when this has returned. */
  call(address: string, input: unknown, settle: (isOk: boolean, value: unknown) => void): void;
  print(text: string): void;
  /** Whether no other program runs. */
  isAlone(): boolean;
}

/** Answers the calls of one program. */
export interface CallAnswers {
  call(id: number, address: string, input: unknown): void;
  /** From now on nothing is sent: the thread may have another program. */
  end(): void;
}

/** Makes the answers of one program. All that are there at the same time are sent together. */
export function answerCalls(exchange: Exchange, host: ProgramHost, onSend: () => void): CallAnswers {
  let isOver = false;
  let isScheduled = false;
  let open = 0;
  const patience = createPatience();
  const batch = createBatch((text) => {
    onSend();
    exchange.send(text);
  });

  function settle(answer: Answer): void {
    open -= 1;
    if (isOver) return;
    batch.add(JSON.stringify(answer));
    if (isScheduled) return;
    // There is nothing else to wait for.
    if (open === 0) return sendLast();
    isScheduled = true;
    // When all promises that are settled now have been heard of.
    process.nextTick(send);
  }

  /** A program that has all its answers goes on at once, and often calls the next tool. */
  function sendLast(): void {
    if (!host.isAlone() || !patience.isLeft()) return batch.send();
    // It may be done with its next step before this thread goes on.
    exchange.announce();
    batch.send();
    patience.use(waitForNext);
  }

  function waitForNext(maxMs: number): boolean {
    const hasCome = open === 0 && !isOver && host.isAlone() && exchange.wait(maxMs);
    exchange.leave();
    return hasCome;
  }

  function send(): void {
    isScheduled = false;
    if (!isOver) batch.send();
  }

  return {
    call(id, address, input) {
      open += 1;
      host.call(address, input, (isOk, value) => settle([id, isOk, value]));
    },
    end() {
      isOver = true;
    },
  };
}

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

/** The clock and the event loop as they are when this is loaded: a wait must end also if a test has replaced them. */
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
