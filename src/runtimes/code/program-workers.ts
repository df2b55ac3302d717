import { readFile } from "node:fs/promises";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";

import type { FromWorker, ProgramEnd, ProgramStart, ToWorker, WorkerData } from "./inside/messages.ts";

/** What a program needs while it runs. */
export interface ProgramHost {
  /** Calls a tool; `settle` takes how it ended, at once or later. */
  call(address: string, json: string, settle: (isOk: boolean, json: string) => void): void;
  print(text: string): void;
}

/** Threads that run programs, each one at a time. */
export interface ProgramWorkers {
  /** Runs one program to its end. Rejects with the signal's reason when it is aborted; nothing of the program goes on then. */
  run(start: ProgramStart, host: ProgramHost, signal: AbortSignal): Promise<ProgramEnd>;
  /** Ends all threads. */
  close(): Promise<void>;
}

/** How many threads are kept for the next programs, and how long. */
const maxIdle = 2;
const idleMs = 30_000;
/** How often to look whether a program keeps its thread too busy to notice its own limit. */
const watchMs = 100;

/** Beside this file, and written like it: TypeScript in the source, JavaScript when it was built. */
const workerFile = join(import.meta.dirname, "inside", `worker${extname(import.meta.filename)}`);

/** Makes threads for programs that may use `memoryBytes` each. The first is started when it is needed. */
export function createProgramWorkers(memoryBytes: number): ProgramWorkers {
  const idle: { readonly worker: Worker; readonly timer: ReturnType<typeof setTimeout> }[] = [];
  const all = new Set<Worker>();
  let engine: Promise<WorkerData> | undefined;

  async function take(): Promise<Worker> {
    const kept = idle.pop();
    if (kept === undefined) return start();
    clearTimeout(kept.timer);
    return kept.worker;
  }

  async function start(): Promise<Worker> {
    engine ??= loadEngine(memoryBytes);
    const workerData = await engine;
    const worker = new Worker(workerFile, {
      workerData,
      env: {},
      execArgv: ["--disable-warning=ExperimentalWarning"],
      stdout: true,
      stderr: true,
      resourceLimits: { maxOldGenerationSizeMb: 512, stackSizeMb: 8 },
    });
    all.add(worker);
    worker.once("exit", () => all.delete(worker));
    return worker;
  }

  function keep(worker: Worker): void {
    if (idle.length >= maxIdle) return drop(worker);
    worker.unref();
    const timer = setTimeout(() => {
      idle.splice(
        idle.findIndex((kept) => kept.worker === worker),
        1,
      );
      drop(worker);
    }, idleMs);
    idle.push({ worker, timer: timer.unref() });
  }

  function drop(worker: Worker): void {
    void worker.terminate();
  }

  return {
    async run(program, host, signal) {
      const worker = await take();
      worker.ref();
      try {
        signal.throwIfAborted();
        const end = await follow(worker, program, host, signal);
        if (end === "lost") {
          drop(worker);
          return { status: "out-of-time" };
        }
        keep(worker);
        return end;
      } catch (cause) {
        drop(worker);
        throw cause;
      }
    },
    async close() {
      for (const { timer } of idle.splice(0)) clearTimeout(timer);
      await Promise.all([...all].map((worker) => worker.terminate()));
    },
  };
}

/** The types of the platform have no WebAssembly. */
const { compile } = (globalThis as unknown as { WebAssembly: { compile(bytes: Uint8Array): Promise<object> } })
  .WebAssembly;

/** Compiled once for all threads. */
async function loadEngine(memoryBytes: number): Promise<WorkerData> {
  const file = fileURLToPath(import.meta.resolve("quickjs-wasi/quickjs.wasm"));
  const wasm = await compile(await readFile(file));
  return { engine: import.meta.resolve("quickjs-wasi"), wasm, memoryBytes };
}

/** Runs a program in `worker`. Answers `lost` if the worker cannot be reached any more, however it tries. */
function follow(
  worker: Worker,
  start: ProgramStart,
  host: ProgramHost,
  signal: AbortSignal,
): Promise<ProgramEnd | "lost"> {
  const busyBefore = worker.performance.eventLoopUtilization();
  let stop = (): void => {};
  const send = (message: ToWorker): void => worker.postMessage(message);
  const ended = new Promise<ProgramEnd | "lost">((resolve, reject) => {
    const onMessage = (message: FromWorker): void => {
      if (message.type === "end") resolve(message.end);
      else if (message.type === "print") host.print(message.text);
      else {
        const { id, address, json } = message;
        host.call(address, json, (isOk, output) => send({ type: "settle", id, isOk, json: output }));
      }
    };
    const onAbort = (): void => reject(signal.reason as Error);
    const onError = (cause: Error): void =>
      isOutOfMemory(cause) ? resolve({ status: "out-of-memory" }) : reject(cause);
    const watch = setInterval(() => {
      const { active } = worker.performance.eventLoopUtilization(busyBefore);
      // The machine counts more exactly; this is for a program that never lets it look.
      if (active > start.limits.cpuMs + watchMs) resolve("lost");
    }, watchMs);
    worker.on("message", onMessage).on("error", onError);
    signal.addEventListener("abort", onAbort);
    stop = () => {
      clearInterval(watch);
      worker.off("message", onMessage).off("error", onError);
      signal.removeEventListener("abort", onAbort);
    };
    send({ type: "run", start });
  });
  return ended.finally(stop);
}

function isOutOfMemory(cause: Error): boolean {
  return "code" in cause && cause.code === "ERR_WORKER_OUT_OF_MEMORY";
}
