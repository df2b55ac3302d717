import { readFile } from "node:fs/promises";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";

import { createSemaphore } from "../../core/async.ts";
import type { ToolOutcome } from "../../core/outcome.ts";
import type { Answer, ProgramEnd, ProgramStart, Step, WorkerData } from "./inside/program/messages.ts";
import type { ProgramSession } from "./program-session.ts";

/** Beside this file, and written like it: TypeScript in the source, JavaScript when it was built. */
const workerFile = join(import.meta.dirname, "inside", `worker${extname(import.meta.filename)}`);

/** The types of the platform have no WebAssembly. */
const { compile } = (globalThis as unknown as { WebAssembly: { compile(bytes: Uint8Array): Promise<object> } })
  .WebAssembly;

/** Loads the engine, which all threads share: it is compiled once. */
async function loadEngine(): Promise<Pick<WorkerData, "engine" | "wasm">> {
  const file = fileURLToPath(import.meta.resolve("quickjs-wasi/quickjs.wasm"));
  return { engine: import.meta.resolve("quickjs-wasi"), wasm: await compile(await readFile(file)) };
}

/** Starts a thread that runs programs. It sees nothing of the environment. */
function startWorker(workerData: WorkerData): Worker {
  return new Worker(workerFile, {
    workerData,
    env: {},
    execArgv: ["--disable-warning=ExperimentalWarning"],
    stdout: true,
    stderr: true,
    // Room for what a machine hands over; the machine itself is limited by its own memory.
    resourceLimits: { maxOldGenerationSizeMb: 512, stackSizeMb: 8 },
  });
}

/** Threads that run programs, each one at a time. */
export interface ProgramWorkers {
  /** Runs one program to its end. Rejects with the signal's reason when it is aborted; nothing of the program goes on then. */
  run(start: ProgramStart, session: ProgramSession, signal: AbortSignal): Promise<ProgramEnd>;
  /** Ends all threads. */
  close(): Promise<void>;
}

/** How many programs run at once. Those that programs start count, too: they could start very many. */
const maxThreads = 16;
/** How many threads are kept for the next programs, and how long. */
const maxIdle = 2;
const idleMs = 30_000;

/** Makes threads for programs that may use `memoryBytes` each. The first is started when it is needed. */
export function createProgramWorkers(memoryBytes: number): ProgramWorkers {
  const idle = new Map<Worker, ReturnType<typeof setTimeout>>();
  const all = new Set<Worker>();
  const permits = createSemaphore(maxThreads);
  let engine: ReturnType<typeof loadEngine> | undefined;

  async function take(): Promise<Worker> {
    const [kept] = idle.keys();
    if (kept === undefined) return start();
    clearTimeout(idle.get(kept));
    idle.delete(kept);
    kept.ref();
    return kept;
  }

  async function start(): Promise<Worker> {
    engine ??= loadEngine();
    const worker = startWorker({ ...(await engine), memoryBytes });
    all.add(worker);
    worker.once("exit", () => {
      all.delete(worker);
      clearTimeout(idle.get(worker));
      idle.delete(worker);
    });
    return worker;
  }

  function keep(worker: Worker): void {
    if (idle.size >= maxIdle) return drop(worker);
    // A thread that waits for work keeps no process alive.
    worker.unref();
    idle.set(worker, setTimeout(() => drop(worker), idleMs).unref());
  }

  async function run(program: ProgramStart, session: ProgramSession, signal: AbortSignal): Promise<ProgramEnd> {
    const worker = await take();
    try {
      signal.throwIfAborted();
      const end = await followProgram(worker, program, session, signal);
      if (end === "lost") drop(worker);
      else keep(worker);
      return end === "lost" ? { status: "out-of-time" } : end;
    } catch (cause) {
      drop(worker);
      throw cause;
    }
  }

  return {
    run: (program, session, signal) => permits.run(() => run(program, session, signal), signal),
    async close() {
      await Promise.all([...all].map((worker) => worker.terminate()));
    },
  };
}

function drop(worker: Worker): void {
  void worker.terminate();
}

/** How often to look whether a program keeps its thread too busy to notice its own limit, and how much later than that to act. */
const watchMs = 100;
const patienceMs = 500;

/**
 * Runs a program in `worker` to its end. `lost` means that the thread does not answer any more. Rejects with the signal's reason
 * when it is aborted, and when the thread dies. After anything but an end the thread is of no use.
 */
async function followProgram(
  worker: Worker,
  start: ProgramStart,
  session: ProgramSession,
  signal: AbortSignal,
): Promise<ProgramEnd | "lost"> {
  const { promise, resolve, reject } = Promise.withResolvers<ProgramEnd | "lost">();
  const watch = watchThread(worker, start.limits.cpuMs, () => resolve("lost"));
  let isOver = false;
  const settle = (answer: Answer): void => {
    // The thread may have another program by now.
    if (!isOver) worker.postMessage(JSON.stringify(answer), []);
  };
  const take = (step: Step): void => {
    switch (step[0]) {
      case "begin":
        return watch.begin();
      case "call": {
        const [, id, address, input] = step;
        const answer = (outcome: ToolOutcome): void =>
          settle(outcome.status === "ok" ? [id, true, outcome.output] : [id, false, outcome.error]);
        // One that is not called because the program must stop needs no answer.
        return void session.call(address, input).then(answer, () => {});
      }
      case "print":
        return session.print(step[1]);
      case "end":
        return resolve(step[1]);
    }
  };
  const onMessage = (json: string): void => {
    try {
      take(JSON.parse(json) as Step);
    } catch (cause) {
      // Nothing that comes out of a program may end more than the program.
      reject(cause);
    }
  };
  const onAbort = (): void => reject(signal.reason as Error);
  const onError = (cause: Error): void => (isOutOfMemory(cause) ? resolve({ status: "out-of-memory" }) : reject(cause));
  const onExit = (): void => reject(new Error("The thread of the program ended"));
  worker.on("message", onMessage).on("error", onError).on("exit", onExit);
  signal.addEventListener("abort", onAbort);
  worker.postMessage(start, []);
  try {
    return await promise;
  } finally {
    isOver = true;
    watch.end();
    worker.off("message", onMessage).off("error", onError).off("exit", onExit);
    signal.removeEventListener("abort", onAbort);
  }
}

/** Watches how busy a thread is. */
interface ThreadWatch {
  /** From now on it counts. */
  begin(): void;
  end(): void;
}

/**
 * Calls `onLost` when a thread is busy for far longer than it may. The machine counts more exactly: this is for a program that
 * never lets it look. It counts elapsed time, so it is the more patient one.
 */
function watchThread(thread: Worker, cpuMs: number, onLost: () => void): ThreadWatch {
  let timer: ReturnType<typeof setInterval> | undefined;
  return {
    begin() {
      const before = thread.performance.eventLoopUtilization();
      timer = setInterval(() => {
        const { active } = thread.performance.eventLoopUtilization(before);
        if (active > cpuMs * 2 + patienceMs) onLost();
      }, watchMs);
    },
    end: () => clearInterval(timer),
  };
}

function isOutOfMemory(cause: Error): boolean {
  return "code" in cause && cause.code === "ERR_WORKER_OUT_OF_MEMORY";
}
