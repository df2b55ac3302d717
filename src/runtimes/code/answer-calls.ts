import { createBatch } from "./inside/program/batch.ts";
import type { Exchange } from "./inside/program/exchange.ts";
import type { Answer } from "./inside/program/messages.ts";

/** What a program needs while it runs. */
export interface ProgramHost {
  /** Calls a tool; `settle` takes its output or its failure, at once or later. */
  call(address: string, input: unknown, settle: (isOk: boolean, value: unknown) => void): void;
  print(text: string): void;
  /** Whether no other program runs. */
  isAlone(): boolean;
}

/** Answers the calls of one program. */
export interface CallAnswers {
  call(id: number, address: string, input: unknown): void;
  /** Takes note that the program told something. */
  notice(): void;
  /** From now on nothing is sent: the thread may have another program. */
  end(): void;
}

/** How long to wait for what a program does with its answers. It takes some 0.03 ms to call the next tool. */
const patienceMs = 0.2;
/** A program that took longer than this the last time is not waited for. */
const quickMs = 0.5;
/** How long others of this process may have to wait. */
const longestStretchMs = 2;

/**
 * Makes the answers of one program. All that are there at the same time are sent together.
 *
 * A program that calls quick tools in turn needs this thread again and again after a moment, so it waits for that moment: to be
 * woken by the event loop takes longer. It does so only while nobody else needs it, and now and then lets the event loop turn.
 */
export function answerCalls(exchange: Exchange, host: ProgramHost, onSend: () => void): CallAnswers {
  const batch = createBatch((text) => {
    onSend();
    exchange.send(text);
  });
  let openCount = 0;
  let isOver = false;
  let isScheduled = false;
  let isWaiting = false;
  let sentAt = Infinity;
  let stretchStartedAt = 0;
  let isQuick = true;

  function settle(answer: Answer): void {
    openCount -= 1;
    if (isOver) return;
    batch.add(JSON.stringify(answer));
    if (isScheduled) return;
    isScheduled = true;
    // When all promises that are settled now have been heard of.
    process.nextTick(send);
  }

  function send(): void {
    isScheduled = false;
    if (isOver) return;
    batch.send();
    sentAt = performance.now();
    if (openCount > 0 || !isQuick || !host.isAlone() || sentAt - stretchStartedAt > longestStretchMs) return;
    isWaiting = true;
    exchange.wait(patienceMs);
    isWaiting = false;
  }

  return {
    call(id, address, input) {
      openCount += 1;
      host.call(address, input, (isOk, value) => settle([id, isOk, value]));
    },
    notice() {
      const now = performance.now();
      isQuick = now - sentAt < quickMs;
      if (!isWaiting) stretchStartedAt = now;
    },
    end() {
      isOver = true;
    },
  };
}
