import { createBatch } from "./inside/program/batch.ts";
import type { Exchange } from "./inside/program/exchange.ts";
import type { Answer } from "./inside/program/messages.ts";
import { createPatience } from "./patience.ts";

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
