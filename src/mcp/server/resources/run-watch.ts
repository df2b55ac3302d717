import { setTimeout as wait } from "node:timers/promises";

import { isKitbagError } from "../../../core/errors.ts";
import { localUser } from "../../../core/scopes.ts";
import type { Store } from "../../../core/store.ts";
import { streamPrefix, toRecord, toStream } from "../../../records/runs/run-records.ts";
import { parseKitbagUri } from "./kitbag-uri.ts";

/** The maximum number of runs that are followed at the same time, for all clients together. */
const mostFollowed = 256;

/** The same for one caller, so that other callers can follow runs, too. The local user has no such limit. */
export const mostPerCaller = 64;

/** Changes within this time are told once. */
const gatherMs = 100;

/** Tells all clients of a server when runs change. Reads nothing while no client follows a run. */
export interface RunWatch {
  /**
   * Calls `onChange` soon after what a URI names has changed, until the function that it answers with is called. `undefined` if it
   * names no runs, or too many are followed already. Who `caller` is counts for that alone. @default caller the local user
   */
  follow(uri: string, onChange: () => void, caller?: string): (() => void) | undefined;
  /** How many runs are followed; the list of all counts as one. */
  readonly size: number;
  /** Ends everything. */
  close(): void;
}

interface Followed {
  /** Those who are told, and for whom. */
  readonly listeners: Map<() => void, string>;
  readonly stop: AbortController;
}

/** Makes what tells of changes of runs. Those who follow the same run share what it takes. */
export function createRunWatch(store: Store): RunWatch {
  const followed = new Map<string, Followed>();

  function begin(id: string): Followed {
    const stop = new AbortController();
    const listeners = new Map<() => void, string>();
    const tell = gather(stop.signal, () => {
      for (const listener of listeners.keys()) listener();
    });
    const follow: Follow = { store, signal: stop.signal, onChange: tell };
    void (id === "" ? followRuns(follow) : followRun(id, follow));
    const one = { listeners, stop };
    followed.set(id, one);
    return one;
  }

  /** Tells whether as many runs are followed for a caller as may be, and this one is not among them. */
  function isFull(caller: string, known: Followed | undefined): boolean {
    const isFor = ({ listeners }: Followed): boolean => listeners.values().some((other) => other === caller);
    if (caller === localUser || (known !== undefined && isFor(known))) return false;
    return followed.values().filter(isFor).toArray().length >= mostPerCaller;
  }

  return {
    follow(uri, onChange, caller = localUser) {
      const id = toRunId(uri);
      if (id === undefined) return undefined;
      const known = followed.get(id);
      if ((known === undefined && followed.size >= mostFollowed) || isFull(caller, known)) return undefined;
      const one = known ?? begin(id);
      // A function of its own: the same one may be given twice.
      const listener = (): void => onChange();
      one.listeners.set(listener, caller);
      return () => {
        one.listeners.delete(listener);
        if (one.listeners.size > 0 || followed.get(id) !== one) return;
        followed.delete(id);
        one.stop.abort();
      };
    },
    get size() {
      return followed.size;
    },
    close() {
      for (const { stop } of followed.values()) stop.abort();
      followed.clear();
    },
  };
}

/** The id of the run that a URI names; empty for the list of all, `undefined` if it is something else. */
export function toRunId(uri: string): string | undefined {
  const parsed = parseKitbagUri(uri);
  return parsed?.kind === "runs" ? parsed.name : undefined;
}

/** Waits a moment, so that a run that writes much is told of seldom. */
function gather(signal: AbortSignal, tell: () => void): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  signal.addEventListener("abort", () => clearTimeout(timer), { once: true });
  return () => {
    if (signal.aborted) return;
    timer ??= setTimeout(() => {
      timer = undefined;
      tell();
    }, gatherMs).unref();
  };
}

/** How something of a store is followed. */
interface Follow {
  readonly store: Store;
  readonly signal: AbortSignal;
  readonly onChange: () => void;
}

/** How often it is looked for runs that began or went on, and for a store that came back. */
const lookMs = 1000;

/** The maximum number of runs that are read, the same as for the list of runs. */
const mostLookedAt = 1000;

/** Follows the journal of one run until it has ended. Never rejects. */
function followRun(id: string, { store, signal, onChange }: Follow): Promise<void> {
  const stream = toStream(id);
  let last: number | undefined;
  return untilDone(signal, async () => {
    last ??= await store.log.position(stream);
    for await (const { position, value } of store.log.tail(stream, { after: last, signal })) {
      last = position;
      onChange();
      if (toRecord(value)?.type === "run-end") return true;
    }
    // A store that was closed has nothing more to tell.
    return true;
  });
}

/** Where the runs stand: the last position of each; one that has ended changes no more. */
type Standing = ReadonlyMap<string, number | "ended">;

/** Follows which runs there are, and how far they are. A store does not tell of new streams, so it is looked for them. Never rejects. */
function followRuns({ store, signal, onChange }: Follow): Promise<void> {
  let standing: Standing | undefined;
  return untilDone(signal, async () => {
    const now = await look(store, standing ?? new Map(), signal);
    if (standing !== undefined && isOther(standing, now)) onChange();
    standing = now;
    return false;
  });
}

async function look({ log }: Store, before: Standing, signal: AbortSignal): Promise<Standing> {
  const now = new Map<string, number | "ended">();
  for (const stream of await log.streams({ prefix: streamPrefix, limit: mostLookedAt })) {
    if (signal.aborted) break;
    const known = before.get(stream);
    const position = known === "ended" ? 0 : await log.position(stream);
    now.set(stream, known === "ended" || position === known ? known : await standAt(stream, position));
  }
  return now;

  async function standAt(stream: string, position: number): Promise<number | "ended"> {
    const [last] = await log.read(stream, { after: position - 1, limit: 1 });
    return last !== undefined && toRecord(last.value)?.type === "run-end" ? "ended" : position;
  }
}

function isOther(before: Standing, now: Standing): boolean {
  return before.size !== now.size || [...now].some(([stream, at]) => before.get(stream) !== at);
}

/** Does it again and again, with pauses, until it says that it is done. A store that cannot be reached now is asked again. */
async function untilDone(signal: AbortSignal, work: () => Promise<boolean>): Promise<void> {
  while (!signal.aborted) {
    try {
      if (await work()) return;
    } catch (cause) {
      if (!isKitbagError(cause, "store-unavailable")) return;
    }
    await wait(lookMs, undefined, { signal, ref: false }).catch(() => {});
  }
}
