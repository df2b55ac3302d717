import type { Worker } from "node:worker_threads";

import {
  readCall,
  writeSettle,
  type FromWorker,
  type ProgramEnd,
  type ProgramStart,
  type ToWorker,
} from "./inside/program/messages.ts";
import type { ProgramWorker } from "./start-worker.ts";

/** What a program needs while it runs. */
export interface ProgramHost {
  /** Calls a tool; `settle` takes how it ended, at once or later. */
  call(address: string, json: string, settle: (isOk: boolean, json: string) => void): void;
  print(text: string): void;
}

/** How often to look whether a program keeps its thread too busy to notice its own limit, and how much later than that to act. */
const watchMs = 100;
const patienceMs = 500;

/**
 * Runs a program in `worker` to its end. `lost` means that the thread does not answer any more. Rejects with the signal's reason
 * when it is aborted, and when the thread dies. After anything but an end the thread is of no use.
 */
export async function followProgram(
  { thread, bell }: ProgramWorker,
  start: ProgramStart,
  host: ProgramHost,
  signal: AbortSignal,
): Promise<ProgramEnd | "lost"> {
  const { promise, resolve, reject } = Promise.withResolvers<ProgramEnd | "lost">();
  const watch = watchThread(thread, start.limits.cpuMs, () => resolve("lost"));
  let isOver = false;
  const call = (text: string): void => {
    const { id, address, json } = readCall(text);
    host.call(address, json, (isOk, output) => {
      // The thread may have another program by now.
      if (isOver) return;
      watch.excuse();
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
      thread.postMessage(writeSettle(id, isOk, output));
      Atomics.add(bell, 0, 1);
      Atomics.notify(bell, 0);
    });
  };
  const onMessage = (message: FromWorker): void => {
    try {
      if (typeof message === "string") call(message);
      else if (message.type === "begin") watch.begin();
      else if (message.type === "print") host.print(message.text);
      else resolve(message.end);
    } catch (cause) {
      // Nothing that comes out of a program may end more than the program.
      reject(cause);
    }
  };
  const onAbort = (): void => reject(signal.reason as Error);
  const onError = (cause: Error): void => (isOutOfMemory(cause) ? resolve({ status: "out-of-memory" }) : reject(cause));
  const onExit = (): void => reject(new Error("The thread of the program ended"));
  thread.on("message", onMessage).on("error", onError).on("exit", onExit);
  signal.addEventListener("abort", onAbort);
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
  thread.postMessage({ start } satisfies ToWorker);
  try {
    return await promise;
  } finally {
    isOver = true;
    watch.end();
    thread.off("message", onMessage).off("error", onError).off("exit", onExit);
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

function isOutOfMemory(cause: Error): boolean {
  return "code" in cause && cause.code === "ERR_WORKER_OUT_OF_MEMORY";
}
