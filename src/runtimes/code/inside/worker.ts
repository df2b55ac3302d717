/** Runs one program after the other, each in a machine of its own. */
import { parentPort, workerData } from "node:worker_threads";

import type { QuickJS } from "quickjs-wasi";

import { createMachine, type Machine } from "./program/create-machine.ts";
import type { ProgramStart, WorkerData } from "./program/messages.ts";
import { ProgramRun } from "./program/run-program.ts";

/** The part of the engine that is used here; it is loaded from where the one who started this thread found it. */
interface Engine {
  readonly QuickJS: typeof QuickJS;
}

/** Less than the stack of this thread, so that the machine notices first. */
const maxStackSize = 256 * 1024;

const { engine, wasm, memoryBytes } = workerData as WorkerData;
const { QuickJS: machines } = (await import(engine)) as Engine;

let run: ProgramRun | undefined;

parentPort?.on("message", (message: ProgramStart | string) => {
  if (typeof message === "string") run?.settle(message);
  else void begin(message);
});

async function begin(start: ProgramStart): Promise<void> {
  // The program before it is over; its machine must not stop this one.
  run = undefined;
  const machine = await makeMachine();
  run = new ProgramRun(start, machine, (step) => parentPort?.postMessage(step, []));
  run.begin();
}

async function makeMachine(): Promise<Machine> {
  const vm = await machines.create({
    wasm,
    memoryLimit: memoryBytes,
    maxStackSize,
    // No program needs to know where this machine is.
    timezoneOffset: 0,
    interruptHandler: () => run?.isInterrupted() ?? false,
    moduleLoader: {
      load(name: string) {
        throw new Error(`Cannot import "${name}": a program has no modules, only its tools`);
      },
    },
  });
  return createMachine(vm, {
    call: (text) => run?.call(text),
    print: (text) => run?.print(text),
    setTimer: (id, ms) => run?.setTimer(id, ms),
    clearTimer: (id) => run?.clearTimer(id),
    end: (status, text) => run?.end(status, text),
  });
}
