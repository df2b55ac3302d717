/** Runs one program after the other, each in a machine of its own, which is made ahead. */
import { workerData } from "node:worker_threads";

import type { QuickJS } from "quickjs-wasi";

import { createMachine, type Bridge, type Machine } from "./program/create-machine.ts";
import { createExchange } from "./program/exchange.ts";
import type { ProgramStart, WorkerData } from "./program/messages.ts";
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

/**
 * How long to wait for an answer before anything else may happen here; less where a timer may be due. A short wait costs more: the
 * processor's own timer has to be set for it.
 */
const patienceMs = 5;
const patienceWithTimersMs = 0.5;
/** How long answers may come here one after the other, for the same reason. */
const longestStayMs = 10;
/** Less than the stack of this thread, so that the machine notices first. */
const maxStackSize = 256 * 1024;

const { engine, wasm, memoryBytes, ends } = workerData as WorkerData;
const { QuickJS: machines } = (await import(engine)) as Engine;
const exchange = createExchange(ends);

let run: ProgramRun | undefined;
let next: Promise<Empty> | undefined = createEmpty();
let isStaying = false;
let isLeaving = false;

exchange.listen((text) => {
  if (text.startsWith("{")) void begin(JSON.parse(text) as ProgramStart);
  else stay(() => run?.settle(text));
});

/**
 * Runs a piece of the program, and waits a moment for its next answer: most tools are quick, and the way through the event loop takes
 * longer than they do.
 */
function stay(runPiece: () => void): void {
  // Answers that come while it waits come from here.
  if (isStaying) return runPiece();
  isStaying = true;
  runPiece();
  const until = performance.now() + longestStayMs;
  while (
    isAnswerDue() &&
    exchange.wait(run?.hasTimers === true ? patienceWithTimersMs : patienceMs) &&
    performance.now() < until
  );
  isLeaving = true;
  // What is laid down already runs here, and waits for nothing.
  exchange.leave();
  exchange.release();
  isLeaving = false;
  isStaying = false;
}

function isAnswerDue(): boolean {
  return run?.isWaiting === true;
}

async function begin(start: ProgramStart): Promise<void> {
  const made = next ?? createEmpty();
  next = undefined;
  const { machine, attach } = await made;
  const begun = new ProgramRun(start, machine, tell);
  run = begun;
  attach(begun);
  stay(() => begun.begin());
}

function tell(steps: string): void {
  if (isStaying && !isLeaving && isAnswerDue()) exchange.announce();
  exchange.send(steps);
  if (run?.isOver === true) {
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
    interruptHandler() {
      const isInterrupted = program?.isInterrupted() ?? false;
      // It computes.
      exchange.release();
      return isInterrupted;
    },
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
