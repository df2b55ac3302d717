import { extname, join } from "node:path";
import { Worker } from "node:worker_threads";

import type { CompiledModule } from "../module/web-assembly.ts";
import type { CallEnd, HostSettings } from "../wire/messages.ts";
import { watchCpu } from "./watch-cpu.ts";
import type { FromWorker, Job, ToWorker, WorkerSettings } from "./worker-messages.ts";

/** What the pool tells about calls. */
export interface PoolEvents {
  begin(id: number): void;
  stderr(id: number, bytes: Uint8Array): void;
  ask(id: number, bytes: Uint8Array): void;
  end(id: number, end: CallEnd, output: Uint8Array): void;
}

/** Workers that run calls, one each at a time. */
export interface WorkerPool {
  run(job: Job, module: CompiledModule): void;
  answer(id: number, bytes: Uint8Array): void;
  /** Ends a call, whatever it does: its thread is ended with it. */
  cancel(id: number): void;
  forget(digest: string): void;
}

/** A worker and what it does now. */
export interface Slot {
  readonly worker: Worker;
  readonly known: Set<string>;
  readonly answered: Int32Array;
  job?: Job;
  /** Why it is being ended. */
  ending?: CallEnd;
}

const nothing = new Uint8Array(0);

/**
 * What a worker's heap may hold. Memory of modules is not in it; tables and the objects of modules with a garbage collector are.
 */
const heapMegabytes = 128;
/** Enough for deep recursion of real programs; what goes deeper is a trap. */
const stackMegabytes = 4;

/** Makes a pool that starts its workers when they are needed, and replaces one that was ended. */
export function createWorkerPool(settings: HostSettings, events: PoolEvents): WorkerPool {
  const slots = new Set<Slot>();
  const waiting: { readonly job: Job; readonly module: CompiledModule }[] = [];
  const watch = watchCpu(slots, settings.limits.cpuMs, (slot) => stop(slot, { kind: "cpu" }));

  function serve(): void {
    while (waiting.length > 0) {
      const slot = findIdle(slots) ?? (slots.size < settings.workers ? start() : undefined);
      const next = slot === undefined ? undefined : waiting.shift();
      if (slot === undefined || next === undefined) return;
      const { job, module } = next;
      slot.job = job;
      if (!slot.known.has(job.digest)) tell(slot, { type: "module", digest: job.digest, module });
      slot.known.add(job.digest);
      tell(slot, { type: "run", job });
      events.begin(job.id);
      watch();
    }
  }

  function start(): Slot {
    const answered = new SharedArrayBuffer(4);
    const slot: Slot = {
      worker: startWorker(settings, answered),
      known: new Set(),
      answered: new Int32Array(answered),
    };
    slots.add(slot);
    slot.worker.on("message", (message: FromWorker) => hear(slot, message));
    slot.worker.on("error", (cause: NodeJS.ErrnoException) => {
      const outOfMemory = cause.code === "ERR_WORKER_OUT_OF_MEMORY";
      leave(slot, outOfMemory ? { kind: "memory" } : { kind: "crashed", reason: cause.message });
    });
    slot.worker.on("exit", () => leave(slot, { kind: "crashed", reason: "its thread ended" }));
    return slot;
  }

  function hear(slot: Slot, message: FromWorker): void {
    const id = slot.job?.id;
    if (id === undefined || slot.ending !== undefined || message.type === "ready") return;
    if (message.type === "end") {
      delete slot.job;
      events.end(id, message.end, message.output);
      serve();
    } else events[message.type](id, message.bytes);
  }

  /** Forgets a worker that is gone or going; whoever waits gets another. */
  function leave(slot: Slot, end: CallEnd): void {
    if (!slots.delete(slot)) return;
    if (slot.job !== undefined) events.end(slot.job.id, slot.ending ?? end, nothing);
    if (waiting.length > 0) serve();
    // The next call need not wait for a thread to start; one that fails at once is not tried for ever.
    else if (slots.size === 0 && slot.job !== undefined) start();
  }

  function stop(slot: Slot, end: CallEnd): void {
    slot.ending ??= end;
    void slot.worker.terminate();
  }

  return {
    run(job, module) {
      waiting.push({ job, module });
      serve();
    },
    answer(id, bytes) {
      for (const slot of slots) {
        if (slot.job?.id !== id) continue;
        tell(slot, { type: "answer", bytes });
        Atomics.store(slot.answered, 0, 1);
        Atomics.notify(slot.answered, 0);
      }
    },
    cancel(id) {
      const place = waiting.findIndex(({ job }) => job.id === id);
      if (place >= 0) {
        waiting.splice(place, 1);
        events.end(id, { kind: "cancelled" }, nothing);
      }
      for (const slot of slots) if (slot.job?.id === id) stop(slot, { kind: "cancelled" });
    },
    forget(digest) {
      for (const slot of slots) if (slot.known.delete(digest)) tell(slot, { type: "forget", digest });
    },
  };
}

function tell(slot: Slot, message: ToWorker): void {
  slot.worker.postMessage(message);
}

function findIdle(slots: ReadonlySet<Slot>): Slot | undefined {
  for (const slot of slots) if (slot.job === undefined) return slot;
  return undefined;
}

function startWorker({ roots, limits }: HostSettings, answered: SharedArrayBuffer): Worker {
  const settings: WorkerSettings = { roots, limits, answered };
  return new Worker(workerFile(), {
    workerData: settings,
    resourceLimits: { maxOldGenerationSizeMb: heapMegabytes, stackSizeMb: stackMegabytes },
    env: {},
  });
}

/** Built, everything is one file beside the worker; from source, this file is in a folder below it. */
function workerFile(): string {
  const extension = extname(import.meta.filename);
  return join(import.meta.dirname, extension === ".ts" ? "../worker.ts" : `worker${extension}`);
}
