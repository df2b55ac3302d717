import { readFile } from "node:fs/promises";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";

import type { WorkerData } from "./inside/program/messages.ts";

/** A thread that runs programs. */
export interface ProgramWorker {
  readonly thread: Worker;
  /** Rung with each answer that is sent, so that a thread which waits for one is woken at once. */
  readonly bell: Int32Array<SharedArrayBuffer>;
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
  const bell = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  const thread = new Worker(workerFile, {
    workerData: { ...engine, bell, memoryBytes } satisfies WorkerData,
    env: {},
    execArgv: ["--disable-warning=ExperimentalWarning"],
    stdout: true,
    stderr: true,
    // Room for what a machine hands over; the machine itself is limited by its own memory.
    resourceLimits: { maxOldGenerationSizeMb: 512, stackSizeMb: 8 },
  });
  return { thread, bell };
}
