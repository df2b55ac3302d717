import type { Worker } from "node:worker_threads";

import { answerCalls, type ProgramHost } from "./answer-calls.ts";
import type { ProgramEnd, ProgramStart, Step } from "./inside/program/messages.ts";
import type { ProgramWorker } from "./start-worker.ts";

/** How often to look whether a program keeps its thread too busy to notice its own limit, and how much later than that to act. */
const watchMs = 100;
const patienceMs = 500;

/**
 * Runs a program in `worker` to its end. `lost` means that the thread does not answer any more. Rejects with the signal's reason
 * when it is aborted, and when the thread dies. After anything but an end the thread is of no use.
 */
export async function followProgram(
  { thread, exchange }: ProgramWorker,
  start: ProgramStart,
  host: ProgramHost,
  signal: AbortSignal,
): Promise<ProgramEnd | "lost"> {
  const { promise, resolve, reject } = Promise.withResolvers<ProgramEnd | "lost">();
  const watch = watchThread(thread, start.limits.cpuMs, () => resolve("lost"));
  const answers = answerCalls(exchange, host, watch.excuse);
  const take = (step: Step): void => {
    switch (step[0]) {
      case "begin":
        return watch.begin();
      case "call":
        return answers.call(step[1], step[2], step[3]);
      case "print":
        return host.print(step[1]);
      case "end":
        return resolve(step[1]);
    }
  };
  exchange.listen((text) => {
    try {
      for (const step of JSON.parse(text) as Step[]) take(step);
    } catch (cause) {
      // Nothing that comes out of a program may end more than the program.
      reject(cause);
    }
  });
  const onAbort = (): void => reject(signal.reason as Error);
  const onError = (cause: Error): void => (isOutOfMemory(cause) ? resolve({ status: "out-of-memory" }) : reject(cause));
  const onExit = (): void => reject(new Error("The thread of the program ended"));
  thread.on("error", onError).on("exit", onExit);
  signal.addEventListener("abort", onAbort);
  exchange.send(JSON.stringify(start, toFinite));
  try {
    return await promise;
  } finally {
    answers.end();
    watch.end();
    exchange.listen(() => {});
    thread.off("error", onError).off("exit", onExit);
    signal.removeEventListener("abort", onAbort);
  }
}

/** Watches how busy a thread is. */
interface ThreadWatch {
  /** From now on it counts. */
  begin(): void;
  /** Takes off what an answer costs: a thread that waits a moment for one counts as busy. */
  excuse(): void;
  end(): void;
}

/**
 * Calls `onLost` when a thread is busy for far longer than it may. The machine counts more exactly: this is for a program that
 * never lets it look. It counts elapsed time, so it is the more patient one.
 */
function watchThread(thread: Worker, cpuMs: number, onLost: () => void): ThreadWatch {
  let timer: ReturnType<typeof setInterval> | undefined;
  let excusedMs = 0;
  return {
    begin() {
      const before = thread.performance.eventLoopUtilization();
      timer = setInterval(() => {
        const { active } = thread.performance.eventLoopUtilization(before);
        if (active > cpuMs * 2 + patienceMs + excusedMs) onLost();
      }, watchMs);
    },
    excuse() {
      excusedMs += 1;
    },
    end: () => clearInterval(timer),
  };
}

/** JSON has no infinity; a limit may be. */
function toFinite(_key: string, value: unknown): unknown {
  return value === Infinity ? Number.MAX_SAFE_INTEGER : value;
}

function isOutOfMemory(cause: Error): boolean {
  return "code" in cause && cause.code === "ERR_WORKER_OUT_OF_MEMORY";
}
