import { readFile } from "node:fs/promises";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { MessageChannel, Worker } from "node:worker_threads";

import { createDesk, createExchange, type Exchange } from "./inside/program/exchange.ts";
import type { WorkerData } from "./inside/program/messages.ts";

/** A thread that runs programs. */
export interface ProgramWorker {
  readonly thread: Worker;
  readonly exchange: Exchange;
  /** Says whether the thread keeps the process alive. */
  hold(isHeld: boolean): void;
}

/** What all threads share: the engine, compiled once. */
export type ProgramEngine = Pick<WorkerData, "engine" | "wasm">;

/** Beside this file, and written like it: TypeScript in the source, JavaScript when it was built. */
const workerFile = join(import.meta.dirname, "inside", `worker${extname(import.meta.filename)}`);

/** The types of the platform have no WebAssembly. */
const { compile } = (globalThis as unknown as { WebAssembly: { compile(bytes: Uint8Array): Promise<object> } })
  .WebAssembly;

/** Loads the engine. */
export async function loadEngine(): Promise<ProgramEngine> {
  const file = fileURLToPath(import.meta.resolve("quickjs-wasi/quickjs.wasm"));
  return { engine: import.meta.resolve("quickjs-wasi"), wasm: await compile(await readFile(file)) };
}

/** Starts a thread whose programs may use `memoryBytes` each. It sees nothing of the environment. */
export function startWorker(engine: ProgramEngine, memoryBytes: number): ProgramWorker {
  const { port1: port, port2 } = new MessageChannel();
  const [toThread, fromThread] = [createDesk(), createDesk()];
  const ends = { port: port2, inbox: toThread, outbox: fromThread };
  const thread = new Worker(workerFile, {
    workerData: { ...engine, ends, memoryBytes } satisfies WorkerData,
    transferList: [port2],
    env: {},
    execArgv: ["--disable-warning=ExperimentalWarning"],
    stdout: true,
    stderr: true,
    // Room for what a machine hands over; the machine itself is limited by its own memory.
    resourceLimits: { maxOldGenerationSizeMb: 512, stackSizeMb: 8 },
  });
  return {
    thread,
    exchange: createExchange({ port, inbox: fromThread, outbox: toThread }),
    hold(isHeld) {
      for (const part of [thread, port]) {
        if (isHeld) part.ref();
        else part.unref();
      }
    },
  };
}
