import type { ProgramHost } from "./answer-calls.ts";
import { followProgram } from "./follow-program.ts";
import type { ProgramEnd, ProgramStart } from "./inside/program/messages.ts";
import { loadEngine, startWorker, type ProgramEngine, type ProgramWorker } from "./start-worker.ts";
import { createTurns } from "./turns.ts";

/** Threads that run programs, each one at a time. */
export interface ProgramWorkers {
  /** Runs one program to its end. Rejects with the signal's reason when it is aborted; nothing of the program goes on then. */
  run(start: ProgramStart, host: ProgramHost, signal: AbortSignal): Promise<ProgramEnd>;
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
  const idle = new Map<ProgramWorker, ReturnType<typeof setTimeout>>();
  const all = new Set<ProgramWorker>();
  const turns = createTurns(maxThreads);
  let engine: Promise<ProgramEngine> | undefined;

  async function take(): Promise<ProgramWorker> {
    const [kept] = idle.keys();
    if (kept === undefined) return start();
    clearTimeout(idle.get(kept));
    idle.delete(kept);
    kept.hold(true);
    return kept;
  }

  async function start(): Promise<ProgramWorker> {
    engine ??= loadEngine();
    const worker = startWorker(await engine, memoryBytes);
    all.add(worker);
    worker.thread.once("exit", () => {
      all.delete(worker);
      clearTimeout(idle.get(worker));
      idle.delete(worker);
    });
    return worker;
  }

  function keep(worker: ProgramWorker): void {
    if (idle.size >= maxIdle) return drop(worker);
    // A thread that waits for work keeps no process alive.
    worker.hold(false);
    idle.set(worker, setTimeout(() => drop(worker), idleMs).unref());
  }

  async function run(program: ProgramStart, host: ProgramHost, signal: AbortSignal): Promise<ProgramEnd> {
    const worker = await take();
    try {
      signal.throwIfAborted();
      const end = await followProgram(worker, program, host, signal);
      if (end === "lost") drop(worker);
      else keep(worker);
      return end === "lost" ? { status: "out-of-time" } : end;
    } catch (cause) {
      drop(worker);
      throw cause;
    }
  }

  return {
    run: (program, host, signal) => turns.run(() => run(program, host, signal), signal),
    async close() {
      await Promise.all([...all].map(({ thread }) => thread.terminate()));
    },
  };
}

function drop({ thread }: ProgramWorker): void {
  void thread.terminate();
}
