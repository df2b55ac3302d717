import { KitbagError } from "../../src/core/errors.ts";
import type { Queue } from "../../src/core/queue.ts";
import type { Store } from "../../src/core/store.ts";
import { createRuns, type Runs } from "../../src/store/runs/create-runs.ts";
import type { FakeClock } from "./fake-clock.ts";

/** What goes wrong with a write or a read: before it reaches the store, or after it, so that only the answer is lost. */
export interface Fault {
  /** How many go well before. */
  readonly after: number;
  readonly side: "before" | "after";
  /** `away`: the store says that it cannot be reached. `pause` and `kill`: the process is stopped, or gone. */
  readonly kind: "away" | "pause" | "kill";
}

/** A process that works on runs, as far as a test needs one: it can be stopped at any of its reads and writes. */
export interface RunProcess {
  readonly runs: Runs;
  readonly isPaused: () => boolean;
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
  let state: "running" | "paused" | "killed" = "running";
  let fault: Fault | undefined;
  let { promise: resumed, resolve: wake } = Promise.withResolvers<void>();

  function pause(): void {
    if (state !== "running") return;
    state = "paused";
    ({ promise: resumed, resolve: wake } = Promise.withResolvers<void>());
  }

  /** Waits while the process is stopped: for ever if it is gone. */
  async function gate(): Promise<void> {
    while (state !== "running") await (state === "killed" ? new Promise(() => undefined) : resumed);
  }

  function strike({ kind, side }: Fault): void {
    if (kind === "pause") pause();
    else if (kind === "kill") state = "killed";
    else throw toUnavailable(side === "after");
  }

  function takeFault(): Fault | undefined {
    if (!fault) return undefined;
    const isNow = fault.after === 0;
    const struck = isNow ? fault : undefined;
    fault = isNow ? undefined : { ...fault, after: fault.after - 1 };
    return struck;
  }

  async function send<Answer>(operation: () => Promise<Answer>): Promise<Answer> {
    await gate();
    const struck = takeFault();
    if (struck?.side === "before") strike(struck);
    await gate();
    const answer = await settle(operation());
    if (struck?.side === "after") strike(struck);
    await gate();
    if ("cause" in answer) throw answer.cause;
    return answer.value;
  }

  const reached = reachThrough(store, send);
  return {
    runs: createRuns({ store: reached, worker, leaseMs, clock: clock.forProcess(() => state !== "running") }),
    isPaused: () => state === "paused",
    kill() {
      state = "killed";
    },
    pause,
    resume() {
      if (state !== "paused") return;
      state = "running";
      wake();
    },
    setFault(next) {
      fault = next;
    },
    async pass(promise) {
      const answer = await settle(promise);
      await gate();
      if ("cause" in answer) throw answer.cause;
      return answer.value;
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

async function settle<Value>(promise: Promise<Value>): Promise<{ value: Value } | { cause: unknown }> {
  try {
    return { value: await promise };
  } catch (cause) {
    return { cause };
  }
}

function toUnavailable(mayBeWritten: boolean): KitbagError<"store-unavailable"> {
  return new KitbagError("store-unavailable", { store: "test", reason: "it is away", cure: "wait", mayBeWritten });
}
