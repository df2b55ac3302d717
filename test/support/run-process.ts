import { KitbagError } from "../../src/core/errors.ts";
import type { Queue, Store } from "../../src/core/store.ts";
import { createRuns, type Runs } from "../../src/records/runs/create-runs.ts";
import type { FakeClock } from "./fake-clock.ts";

/** What goes wrong with a write or a read: before it reaches the store, or after it, so that only the answer is lost. */
export interface Fault {
  /** How many go well before. */
  readonly after: number;
  readonly side: "before" | "after";
  /** `away`: the store says that it cannot be reached. `pause` and `kill`: the process is stopped, or gone. */
  readonly kind: "away" | "pause" | "kill";
  /** What goes wrong after that. */
  readonly next?: Fault;
}

/** A process that works on runs, as far as a test needs one: it can be stopped at any of its reads and writes. */
export interface RunProcess {
  readonly runs: Runs;
  /** Has nothing happen in it any more. */
  kill(): void;
  /** Like SIGSTOP: its timers wait, and what it sends and is sent. */
  pause(): void;
  resume(): void;
  setFault(fault: Fault | undefined): void;
  /** Passes what somebody promises on to the process, when it runs. */
  pass<Value>(promise: Promise<Value>): Promise<Value>;
}

/** What a process is made of. */
export interface RunProcessOptions {
  readonly store: Store;
  readonly clock: FakeClock;
  readonly worker: string;
  readonly leaseMs: number;
}

/** Makes a process on a store that it may share with others. */
export function createRunProcess({ store, clock, worker, leaseMs }: RunProcessOptions): RunProcess {
  const life = createLife();
  let fault: Fault | undefined;

  function strike({ kind, side }: Fault): void {
    if (kind === "pause") life.pause();
    else if (kind === "kill") life.kill();
    else throw toUnavailable(side === "after");
  }

  function takeFault(): Fault | undefined {
    const current = fault;
    if (!current) return undefined;
    const isNow = current.after === 0;
    fault = isNow ? current.next : { ...current, after: current.after - 1 };
    return isNow ? current : undefined;
  }

  async function send<Answer>(operation: () => Promise<Answer>): Promise<Answer> {
    await life.gate();
    const struck = takeFault();
    if (struck?.side === "before") strike(struck);
    await life.gate();
    const answer = await settle(operation());
    if (struck?.side === "after") strike(struck);
    await life.gate();
    return unwrap(answer);
  }

  return {
    runs: createRuns({ store: reachThrough(store, send), worker, leaseMs, clock: clock.forProcess(life.isStopped) }),
    kill: life.kill,
    pause: life.pause,
    resume: life.resume,
    setFault(next) {
      fault = next;
    },
    async pass(promise) {
      const answer = await settle(promise);
      await life.gate();
      return unwrap(answer);
    },
  };
}

interface Life extends Pick<RunProcess, "kill" | "pause" | "resume"> {
  isStopped(): boolean;
  /** Waits while the process is stopped: for ever if it is gone. */
  gate(): Promise<void>;
}

function createLife(): Life {
  let state: "running" | "paused" | "killed" = "running";
  let resumed = Promise.withResolvers<void>();

  return {
    isStopped: () => state !== "running",
    kill() {
      state = "killed";
      resumed = Promise.withResolvers();
    },
    pause() {
      if (state !== "running") return;
      state = "paused";
      resumed = Promise.withResolvers();
    },
    resume() {
      if (state !== "paused") return;
      state = "running";
      resumed.resolve();
    },
    async gate() {
      if (state === "running") return;
      await resumed.promise;
      // It may have been stopped again before this was told.
      await this.gate();
    },
  };
}

type Send = <Answer>(operation: () => Promise<Answer>) => Promise<Answer>;

/** The store, as it is reached by way of `send`. */
function reachThrough(store: Store, send: Send): Store {
  const { kv, log } = store;
  return {
    ...store,
    kv: {
      get: (...args) => send(() => kv.get(...args)),
      set: (...args) => send(() => kv.set(...args)),
      delete: (...args) => send(() => kv.delete(...args)),
      list: (...args) => send(() => kv.list(...args)),
      increment: (...args) => send(() => kv.increment(...args)),
    },
    log: {
      ...log,
      append: (...args) => send(() => log.append(...args)),
      read: (...args) => send(() => log.read(...args)),
      position: (...args) => send(() => log.position(...args)),
      streams: (...args) => send(() => log.streams(...args)),
    },
    queue: (name) => reachQueue(store.queue(name), send),
  };
}

function reachQueue(queue: Queue, send: Send): Queue {
  return {
    add: (...args) => send(() => queue.add(...args)),
    claim: (...args) => send(() => queue.claim(...args)),
    extend: (...args) => send(() => queue.extend(...args)),
    complete: (...args) => send(() => queue.complete(...args)),
    release: (...args) => send(() => queue.release(...args)),
    count: () => send(() => queue.count()),
  };
}

type Settled<Value> = { readonly value: Value } | { readonly cause: unknown };

async function settle<Value>(promise: Promise<Value>): Promise<Settled<Value>> {
  try {
    return { value: await promise };
  } catch (cause) {
    return { cause };
  }
}

function unwrap<Value>(settled: Settled<Value>): Value {
  if ("cause" in settled) throw settled.cause;
  return settled.value;
}

function toUnavailable(mayBeWritten: boolean): KitbagError<"store-unavailable"> {
  return new KitbagError("store-unavailable", { store: "test", reason: "it is away", cure: "wait", mayBeWritten });
}
