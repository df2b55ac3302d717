import { KitbagError } from "../core/errors.ts";
import { showValue } from "../core/json.ts";
import type { LogEntry } from "../core/store.ts";

/** What a tail needs of the stream it follows. */
export interface TailSource {
  /** Called before the first entry: throws if the stream cannot be followed. */
  checkStart(): void;
  isClosed(): boolean;
  /** The next entry, if there is one; each is given once, as a copy. A tail that meets an error ends with it. */
  take(): LogEntry | undefined;
  /** Has `follower` called from now on; answers with the function that ends it. */
  follow(follower: Follower): () => void;
}

/** Who waits for a stream. */
export interface Follower {
  /** Something was appended. */
  wake(): void;
  /** The store was closed. */
  end(): void;
}

/** Those who have asked for an entry and wait, the first one first. */
function createAskers(source: TailSource) {
  const askers = new Set<{ resolve(entry: LogEntry | undefined): void; reject(error: unknown): void }>();

  return {
    isEmpty: () => askers.size === 0,
    wait: () => new Promise<LogEntry | undefined>((resolve, reject) => void askers.add({ resolve, reject })),
    /** Gives them what there is; answers whether nobody waits any more. */
    serve(): boolean {
      for (const asker of askers) {
        const entry = source.take();
        if (!entry) return false;
        askers.delete(asker);
        asker.resolve(entry);
      }
      return true;
    },
    /** Tells the first one what went wrong. */
    fail(error: unknown): void {
      for (const asker of [...askers].slice(0, 1)) asker.reject(error);
    },
    end(): void {
      for (const { resolve } of askers) resolve(undefined);
      askers.clear();
    },
  };
}

/**
 * Makes an iterator over a stream. It is known to the stream and to the signal only while somebody waits for an entry, so one
 * that is dropped half-way holds nothing. Written by hand: `return` of a generator would wait for the next entry.
 */
export function createTail(source: TailSource, signal: AbortSignal | undefined): AsyncIterator<LogEntry> {
  const askers = createAskers(source);
  let state: "new" | "following" | "ended" = "new";
  let unfollow: () => void;

  function start(): void {
    state = "ended";
    checkSignal(signal);
    source.checkStart();
    state = "following";
  }

  function wait(): Promise<LogEntry | undefined> {
    if (askers.isEmpty()) {
      unfollow = source.follow({ wake, end });
      signal?.addEventListener("abort", end);
    }
    return askers.wait();
  }

  function stopWaiting(): void {
    unfollow();
    signal?.removeEventListener("abort", end);
  }

  function wake(): void {
    try {
      if (askers.serve()) stopWaiting();
    } catch (cause) {
      askers.fail(cause);
      end();
    }
  }

  function end(): void {
    state = "ended";
    if (!askers.isEmpty()) stopWaiting();
    askers.end();
  }

  return {
    async next() {
      if (state === "new") start();
      if (signal?.aborted === true || source.isClosed()) end();
      if (state === "ended") return toResult(undefined);
      return toResult(source.take() ?? (await wait()));
    },
    async return() {
      end();
      return toResult(undefined);
    },
  };
}

function checkSignal(signal: AbortSignal | undefined): void {
  if (signal === undefined || signal instanceof AbortSignal) return;
  throw new KitbagError("option-invalid", { option: "signal", found: showValue(signal), expected: "an AbortSignal" });
}

function toResult(entry: LogEntry | undefined): IteratorResult<LogEntry, undefined> {
  return entry ? { done: false, value: entry } : { done: true, value: undefined };
}

/** Who waits for which stream. */
export interface Followers {
  /** Answers with the function that takes it out. */
  add(stream: string, follower: Follower): () => void;
  wake(stream: string): void;
  wakeAll(): void;
  /** Ends all of them. */
  end(): void;
}

/** Makes an empty list of followers. */
export function createFollowers(): Followers {
  const byStream = new Map<string, Set<Follower>>();

  return {
    add(stream, follower) {
      const followers = byStream.get(stream) ?? new Set();
      byStream.set(stream, followers.add(follower));
      return () => {
        followers.delete(follower);
        if (followers.size === 0) byStream.delete(stream);
      };
    },
    wake(stream) {
      for (const follower of byStream.get(stream) ?? []) follower.wake();
    },
    wakeAll() {
      for (const followers of byStream.values()) for (const follower of followers) follower.wake();
    },
    end() {
      for (const followers of byStream.values()) for (const follower of followers) follower.end();
    },
  };
}
