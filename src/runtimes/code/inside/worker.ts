/** Runs one program after the other, each in a machine of its own. */
import { parentPort, workerData } from "node:worker_threads";

import type { QuickJS } from "quickjs-wasi";

import type { FromWorker, ToWorker, WorkerData } from "./messages.ts";
import { ProgramRun } from "./run-program.ts";

type Engine = typeof import("quickjs-wasi");

/** Less than the stack of this thread, so that the machine notices first. */
const maxStackSize = 256 * 1024;

const { engine, wasm, memoryBytes } = workerData as WorkerData;
const { QuickJS: maker } = (await import(engine)) as Engine;

let run: ProgramRun | undefined;
let next: Promise<Empty> | undefined = createEmpty();
const tell = (message: FromWorker): void => parentPort?.postMessage(message);

parentPort?.on("message", (message: ToWorker) => {
  if (message.type === "run") void begin(message);
  else run?.settle(message.id, message.isOk, message.json);
});

async function begin({ start }: ToWorker & { type: "run" }): Promise<void> {
  const program = new ProgramRun(start, (message) => {
    tell(message);
    // Made ahead, so that the next program need not wait.
    if (message.type === "end") setImmediate(() => (next ??= createEmpty()));
  });
  const { vm, hold } = await (next ?? createEmpty());
  next = undefined;
  run = program;
  hold(program);
  program.begin(vm);
}

interface Empty {
  readonly vm: QuickJS;
  /** Holds the machine to the time of its program. */
  hold(program: ProgramRun): void;
}

async function createEmpty(): Promise<Empty> {
  let holder: ProgramRun | undefined;
  const vm = await maker.create({
    wasm,
    memoryLimit: memoryBytes,
    maxStackSize,
    // No program needs to know where this machine is.
    timezoneOffset: 0,
    interruptHandler: () => holder?.isInterrupted() ?? false,
    moduleLoader: {
      load(name: string) {
        throw new Error(`Cannot import "${name}": a program has no modules, only its tools`);
      },
    },
  });
  return {
    vm,
    hold(program) {
      holder = program;
    },
  };
}
