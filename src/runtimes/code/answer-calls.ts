import { createBatch } from "./inside/program/batch.ts";
import type { Exchange } from "./inside/program/exchange.ts";
import type { Answer } from "./inside/program/messages.ts";

/** What a program needs while it runs. */
export interface ProgramHost {
  /** Calls a tool; `settle` takes its output or its failure, at once or later. */
  call(address: string, input: unknown, settle: (isOk: boolean, value: unknown) => void): void;
  print(text: string): void;
  /** Whether so few programs run that each of them, and this thread, can have a processor. */
  hasRoom(): boolean;
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
  const batch = createBatch((text) => {
    onSend();
    exchange.send(text);
    // A program that has all its answers goes on at once, and often calls the next tool.
    if (open === 0 && host.hasRoom()) exchange.linger();
  });

  function settle(answer: Answer): void {
    open -= 1;
    if (isOver) return;
    batch.add(JSON.stringify(answer));
    if (isScheduled) return;
    // There is nothing else to wait for.
    if (open === 0) return batch.send();
    isScheduled = true;
    // When all promises that are settled now have been heard of.
    process.nextTick(send);
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
