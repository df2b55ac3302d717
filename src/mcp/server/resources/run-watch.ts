import type { Store } from "../../../core/store.ts";
import { localUser } from "../../../core/scopes.ts";
import { followRun, followRuns, type Follow } from "./follow-runs.ts";
import { parseKitbagUri } from "./kitbag-uri.ts";

/** So many runs are followed at once, for all clients together. */
const mostFollowed = 256;

/** So many are followed for one caller, so that the rest is for others; the local user may have all. */
export const mostPerCaller = 64;

/** Changes within this time are told once. */
const gatherMs = 100;

/** Tells all clients of a server when runs change. Nothing is looked at while nobody follows. */
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
