import { extname, join } from "node:path";
import { Worker } from "node:worker_threads";

import type { CompiledModule } from "../module/web-assembly.ts";
import type { CallEnd, HostSettings, FromWorker, Job, ToWorker, WorkerSettings } from "../wire/messages.ts";

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

interface Waiting {
  readonly job: Job;
  readonly module: CompiledModule;
}

const nothing = new Uint8Array(0);

/** Makes a pool that starts its workers when they are needed, and replaces one that was ended. */
export function createWorkerPool(settings: HostSettings, events: PoolEvents): WorkerPool {
  const slots = new Set<Slot>();
  const waiting: Waiting[] = [];
  const watch = watchCpu(slots, settings.limits.cpuMs, (slot) => stop(slot, { kind: "cpu" }));

  function start(): Slot {
    const slot = startSlot(settings, { message: hear, gone: leave });
    slots.add(slot);
    return slot;
  }

  function serve(): void {
    while (waiting.length > 0) {
      const slot = findIdle(slots) ?? (slots.size < settings.workers ? start() : undefined);
      const next = slot === undefined ? undefined : waiting.shift();
      if (slot === undefined || next === undefined) return;
      begin(slot, next);
      events.begin(next.job.id);
      watch();
    }
  }

  function hear(slot: Slot, message: FromWorker): void {
    const id = slot.job?.id;
    if (id === undefined || slot.ending !== undefined || message.type === "ready") return;
    if (message.type !== "end") return events[message.type](id, message.bytes);
    delete slot.job;
    events.end(id, message.end, message.output);
    serve();
  }

  /** Forgets a worker that is gone; waiting calls get another. */
  function leave(slot: Slot, end: CallEnd): void {
    if (!slots.delete(slot)) return;
    if (slot.job !== undefined) events.end(slot.job.id, slot.ending ?? end, nothing);
    if (waiting.length > 0) serve();
    // The next call need not wait for a thread to start; one that fails at once is not tried for ever.
    else if (slots.size === 0 && slot.job !== undefined) start();
  }

  return {
    run(job, module) {
      waiting.push({ job, module });
      serve();
    },
    answer(id, bytes) {
      for (const slot of slots) if (slot.job?.id === id) answerSlot(slot, bytes);
    },
    cancel(id) {
      if (removeJob(waiting, id)) events.end(id, { kind: "cancelled" }, nothing);
      for (const slot of slots) if (slot.job?.id === id) stop(slot, { kind: "cancelled" });
    },
    forget(digest) {
      for (const slot of slots) if (slot.known.delete(digest)) tellSlot(slot, { type: "forget", digest });
    },
  };
}

function begin(slot: Slot, { job, module }: Waiting): void {
  slot.job = job;
  if (!slot.known.has(job.digest)) tellSlot(slot, { type: "module", digest: job.digest, module });
  slot.known.add(job.digest);
  tellSlot(slot, { type: "run", job });
}

function removeJob(waiting: Waiting[], id: number): boolean {
  const place = waiting.findIndex(({ job }) => job.id === id);
  return place >= 0 && waiting.splice(place, 1).length > 0;
}

function stop(slot: Slot, end: CallEnd): void {
  slot.ending ??= end;
  void slot.worker.terminate();
}

function findIdle(slots: ReadonlySet<Slot>): Slot | undefined {
  for (const slot of slots) if (slot.job === undefined) return slot;
  return undefined;
}

const everyMs = 50;

/**
 * Watches the CPU time of workers while calls run, and tells which one has used more than `limitMs` for its call. A call is seen
 * first up to 50 ms after it began, so it can use that much more. Call the answer when a call begins.
 */
function watchCpu(slots: ReadonlySet<Slot>, limitMs: number, exceeded: (slot: Slot) => void): () => void {
  const seen = new WeakMap<Slot, { readonly id: number; readonly ms: number }>();
  let timer: NodeJS.Timeout | undefined;

  async function look(slot: Slot, id: number): Promise<void> {
    const { user, system } = await slot.worker.cpuUsage();
    if (slot.job?.id !== id) return;
    const ms = (user + system) / 1000;
    const first = seen.get(slot);
    if (first?.id !== id) seen.set(slot, { id, ms });
    else if (ms - first.ms > limitMs) exceeded(slot);
  }

  function lookAtAll(): void {
    const busy = [...slots].filter(({ job }) => job !== undefined);
    if (busy.length === 0) {
      clearInterval(timer);
      timer = undefined;
    }
    // A worker that ends meanwhile has no CPU time any more.
    for (const slot of busy) if (slot.job !== undefined) look(slot, slot.job.id).catch(() => {});
  }

  return () => {
    timer ??= setInterval(lookAtAll, everyMs);
  };
}

/** A worker and what it does now. */
interface Slot {
  readonly worker: Worker;
  /** The digests of the modules that it has. */
  readonly known: Set<string>;
  readonly answered: Int32Array;
  job?: Job;
  /** Why it is being ended. */
  ending?: CallEnd;
}

/** Who hears of a worker. */
interface SlotEvents {
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
function startSlot({ roots, limits }: HostSettings, events: SlotEvents): Slot {
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
function tellSlot({ worker }: Slot, message: ToWorker): void {
  worker.postMessage(message, []);
}

/** Wakes a module that waits for an answer. */
function answerSlot(slot: Slot, bytes: Uint8Array): void {
  tellSlot(slot, { type: "answer", bytes });
  Atomics.store(slot.answered, 0, 1);
  Atomics.notify(slot.answered, 0);
}
