import type { LoadedModule } from "../module/web-assembly.ts";
import type { CallEnd, HostSettings } from "../wire/messages.ts";
import { answerSlot, startSlot, tellSlot, type Slot } from "./slot.ts";
import { watchCpu } from "./watch-cpu.ts";
import type { FromWorker, Job } from "./worker-messages.ts";

/** What the pool tells about calls. */
export interface PoolEvents {
  begin(id: number): void;
  stderr(id: number, bytes: Uint8Array): void;
  ask(id: number, bytes: Uint8Array): void;
  end(id: number, end: CallEnd, output: Uint8Array): void;
}

/** Workers that run calls, one each at a time. */
export interface WorkerPool {
  run(job: Job, module: LoadedModule): void;
  answer(id: number, bytes: Uint8Array): void;
  /** Ends a call, whatever it does: its thread is ended with it. */
  cancel(id: number): void;
  forget(digest: string): void;
}

interface Waiting {
  readonly job: Job;
  readonly module: LoadedModule;
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

  /** Forgets a worker that is gone; whoever waits gets another. */
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
  if (!slot.known.has(job.digest)) tellSlot(slot, { type: "module", digest: job.digest, loaded: module });
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
