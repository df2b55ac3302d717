/** Runs one program after the other, each in a machine of its own, which is made ahead. */
import { parentPort, receiveMessageOnPort, workerData, type MessagePort } from "node:worker_threads";

import type { QuickJS } from "quickjs-wasi";

import { createMachine, type Bridge, type Machine } from "./program/create-machine.ts";
import type { FromWorker, ProgramStart, ToWorker, WorkerData } from "./program/messages.ts";
import { ProgramRun } from "./program/run-program.ts";

/** The part of the engine that is used here; it is loaded from where the one who started this thread found it. */
interface Engine {
  readonly QuickJS: typeof QuickJS;
}

/** A machine without a program. */
interface Empty {
  readonly machine: Machine;
  /** Lets the machine talk to its program, and asks that one whether it must stop. */
  attach(run: ProgramRun): void;
}

/** How long to wait for an answer before anything else may happen here, such as a timer. */
const patienceMs = 0.5;
/** Less than the stack of this thread, so that the machine notices first. */
const maxStackSize = 256 * 1024;

const { engine, wasm, memoryBytes, bell } = workerData as WorkerData;
const { QuickJS: machines } = (await import(engine)) as Engine;
const port = parentPort as MessagePort;

let run: ProgramRun | undefined;
let next: Promise<Empty> | undefined = createEmpty();

port.on("message", (message: ToWorker) => {
  take(message);
  waitHere();
});

function take(message: ToWorker): void {
  if (typeof message === "string") run?.settle(message);
  else void begin(message.start);
}

/** Waits a moment for the next answer: most tools are quick, and the way through the event loop takes longer than they do. */
function waitHere(): void {
  for (;;) {
    if (run?.isWaiting !== true) return;
    const rung = Atomics.load(bell, 0);
    const received = receiveMessageOnPort(port);
    if (received !== undefined) take(received.message as ToWorker);
    else if (Atomics.wait(bell, 0, rung, patienceMs) === "timed-out") return;
  }
}

async function begin(start: ProgramStart): Promise<void> {
  const { machine, attach } = await (next ?? createEmpty());
  next = undefined;
  run = new ProgramRun(start, machine, tell);
  attach(run);
  tell({ type: "begin" });
  run.begin();
  waitHere();
}

function tell(message: FromWorker): void {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
  port.postMessage(message);
  if (typeof message === "object" && message.type === "end") {
    setImmediate(() => {
      next ??= createEmpty();
    });
  }
}

async function createEmpty(): Promise<Empty> {
  let program: ProgramRun | undefined;
  const vm = await machines.create({
    wasm,
    memoryLimit: memoryBytes,
    maxStackSize,
    // No program needs to know where this machine is.
    timezoneOffset: 0,
    interruptHandler: () => program?.isInterrupted() ?? false,
    moduleLoader: {
      load(name: string) {
        throw new Error(`Cannot import "${name}": a program has no modules, only its tools`);
      },
    },
  });
  const bridge: Bridge = {
    call: (text) => program?.call(text),
    print: (text) => program?.print(text),
    setTimer: (id, ms) => program?.setTimer(id, ms),
    clearTimer: (id) => program?.clearTimer(id),
    end: (status, text) => program?.end(status, text),
  };
  return {
    machine: createMachine(vm, bridge),
    attach(attached) {
      program = attached;
    },
  };
}
