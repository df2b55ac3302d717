import { KitbagError } from "../core/errors.ts";
import { showValue } from "../core/json.ts";
import type { LogEntry } from "../core/store.ts";
import { fromKept } from "./kept-value.ts";

/** What a tail needs of the stream it follows. */
export interface TailSource {
  /** Called before the first entry: throws if the stream cannot be followed. */
  checkStart(): void;
  isClosed(): boolean;
  /** The next entry, if there is one; each is given once. */
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

type Answer = (entry: LogEntry | undefined) => void;

/**
 * Makes an iterator over a stream. It is known to the stream and to the signal only while somebody waits for an entry, so one
 * that is dropped half-way holds nothing. Written by hand: `return` of a generator would wait for the next entry.
 */
export function createTail(source: TailSource, signal: AbortSignal | undefined): AsyncIterator<LogEntry> {
  const asked = new Set<Answer>();
  let state: "new" | "following" | "ended" = "new";
  let unfollow: () => void;

  function start(): void {
    state = "ended";
    checkSignal(signal);
    source.checkStart();
    state = "following";
  }

  function wait(answer: Answer): void {
    asked.add(answer);
    if (asked.size > 1) return;
    unfollow = source.follow({ wake, end });
    signal?.addEventListener("abort", end);
  }

  function stopWaiting(): void {
    unfollow();
    signal?.removeEventListener("abort", end);
  }

  function wake(): void {
    for (const answer of asked) {
      const entry = source.take();
      if (!entry) return;
      asked.delete(answer);
      answer(entry);
    }
    stopWaiting();
  }

  function end(): void {
    state = "ended";
    if (asked.size > 0) stopWaiting();
    for (const answer of asked) answer(undefined);
    asked.clear();
  }

  return {
    async next() {
      if (state === "new") start();
      if (signal?.aborted === true || source.isClosed()) end();
      if (state === "ended") return toResult(undefined);
      return toResult(source.take() ?? (await new Promise(wait)));
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

/** Copies an entry on its way out. */
export function toEntry({ position, time, value }: LogEntry): LogEntry {
  return { position, time, value: fromKept(value) };
}

function toResult(entry: LogEntry | undefined): IteratorResult<LogEntry, undefined> {
  return entry ? { done: false, value: toEntry(entry) } : { done: true, value: undefined };
}

/** Who waits for which stream. */
export interface Followers {
  /** Answers with the function that takes it out. */
  add(stream: string, follower: Follower): () => void;
  wake(stream: string): void;
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
    end() {
      for (const followers of byStream.values()) for (const follower of followers) follower.end();
    },
  };
}
