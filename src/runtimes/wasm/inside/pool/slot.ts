import { extname, join } from "node:path";
import { Worker } from "node:worker_threads";

import type { CallEnd, HostSettings } from "../wire/messages.ts";
import type { FromWorker, Job, ToWorker, WorkerSettings } from "./worker-messages.ts";

/** A worker and what it does now. */
export interface Slot {
  readonly worker: Worker;
  /** The digests of the modules that it has. */
  readonly known: Set<string>;
  readonly answered: Int32Array;
  job?: Job;
  /** Why it is being ended. */
  ending?: CallEnd;
}

/** Who hears of a worker. */
export interface SlotEvents {
  message(slot: Slot, message: FromWorker): void;
  /** It ended: by itself, or because it was ended. May be told twice. */
  gone(slot: Slot, end: CallEnd): void;
}

/**
 * What a worker's heap may hold. Memory of modules is not in it; tables and the objects of modules with a garbage collector are.
 */
const heapMegabytes = 128;
/** Enough for deep recursion of real programs; what goes deeper is a trap. */
const stackMegabytes = 4;

/** Starts a worker. */
export function startSlot({ roots, limits }: HostSettings, events: SlotEvents): Slot {
  const answered = new SharedArrayBuffer(4);
  const settings: WorkerSettings = { roots, limits, answered };
  const worker = new Worker(workerFile(), {
    workerData: settings,
    resourceLimits: { maxOldGenerationSizeMb: heapMegabytes, stackSizeMb: stackMegabytes },
    env: {},
  });
  const slot: Slot = { worker, known: new Set(), answered: new Int32Array(answered) };
  worker.on("message", (message: FromWorker) => events.message(slot, message));
  worker.on("error", (cause: NodeJS.ErrnoException) => {
    const outOfMemory = cause.code === "ERR_WORKER_OUT_OF_MEMORY";
    events.gone(slot, outOfMemory ? { kind: "memory" } : { kind: "crashed", reason: cause.message });
  });
  worker.on("exit", () => events.gone(slot, { kind: "crashed", reason: "it ended" }));
  return slot;
}

/** Built, everything is one file beside the worker; from source, this file is in a folder below it. */
function workerFile(): string {
  const extension = extname(import.meta.filename);
  return join(import.meta.dirname, extension === ".ts" ? "../worker.ts" : `worker${extension}`);
}

/** Tells a worker something, and moves nothing to it. */
export function tellSlot({ worker }: Slot, message: ToWorker): void {
  worker.postMessage(message, []);
}

/** Wakes a module that waits for an answer. */
export function answerSlot(slot: Slot, bytes: Uint8Array): void {
  tellSlot(slot, { type: "answer", bytes });
  Atomics.store(slot.answered, 0, 1);
  Atomics.notify(slot.answered, 0);
}
