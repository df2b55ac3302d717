import { KitbagError } from "../core/errors.ts";
import { showValue } from "../core/json.ts";
import type { LogEntry } from "../core/store.ts";
import { checkKey, checkWhole } from "./checks.ts";
import { checkOpen, type StoreLife } from "./store-life.ts";

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

/** A follower of a stream. */
export interface Follower {
  /** Something was appended. */
  wake(): void;
  /** The store was closed. */
  end(): void;
}

/** The callers that wait for an entry, in order. */
function createAskers(source: TailSource) {
  const askers = new Set<{ resolve(entry: LogEntry | undefined): void; reject(error: unknown): void }>();

  return {
    isEmpty: () => askers.size === 0,
    wait: () => new Promise<LogEntry | undefined>((resolve, reject) => void askers.add({ resolve, reject })),
    /** Gives the waiting callers the available entries; answers whether none is left waiting. */
    serve(): boolean {
      for (const asker of askers) {
        const entry = source.take();
        if (!entry) return false;
        askers.delete(asker);
        asker.resolve(entry);
      }
      return true;
    },
    /** Rejects the first waiting caller. */
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
 * Makes an iterator over a stream. It listens to the stream and to the signal only while a `next` waits for an entry, so an iterator
 * that is dropped half-way leaks nothing. Written by hand: `return` of a generator would wait for the next entry.
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

/** The followers, by stream. */
export interface Followers {
  /** Answers with the function that removes the follower. */
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

/** A stream on another machine. */
interface RemoteStream {
  readonly life: StoreLife;
  readonly stream: string;
  readonly after: number;
  read(stream: string, after: number, limit: number): Promise<readonly LogEntry[]>;
  /** Has `follower` woken whenever there may be more; too often does no harm. Answers with the function that ends it. */
  follow(stream: string, follower: Follower): () => void;
}

/** How many entries are read ahead. */
const pageSize = 100;

/**
 * Makes an iterator over a stream that can only be asked from afar. It asks by position, so nothing is lost or comes twice,
 * whatever becomes of the connection in between. A server that is away at the beginning is an error; later the tail waits for it.
 */
export function createRemoteTail(remote: RemoteStream, signal: AbortSignal | undefined): AsyncIterator<LogEntry> {
  const { life, stream } = remote;
  const pages = createPages(remote);
  return createTail(
    {
      isClosed: () => life.isClosed,
      take: pages.take,
      checkStart() {
        checkKey(stream);
        checkWhole("after", remote.after);
        checkOpen(life, "log.tail");
      },
      follow(follower) {
        const reader = createReader(pages, follower.wake);
        const leave = remote.follow(stream, { wake: reader.read, end: follower.end });
        reader.read();
        return () => {
          reader.stop();
          leave();
        };
      },
    },
    signal,
  );
}

/** Reads a stream page by page. */
function createPages({ stream, after, read }: RemoteStream) {
  let position = after;
  let hasRead = false;
  let failure: { readonly cause: unknown } | undefined;
  let page: readonly LogEntry[] = [];
  let next = 0;

  async function load(): Promise<void> {
    try {
      page = await read(stream, position, pageSize);
      next = 0;
      hasRead = true;
    } catch (cause) {
      // The follower is woken again when the server is back.
      if (!hasRead) failure = { cause };
    }
  }

  return {
    take(): LogEntry | undefined {
      if (failure) throw failure.cause;
      const entry = page[next];
      if (!entry) return undefined;
      next += 1;
      position = entry.position;
      return entry;
    },
    load,
    /** Whether there is nothing left to take. */
    isEmpty: () => next >= page.length,
    isFull: () => page.length === pageSize,
  };
}

/** Makes the reader of one follower; it reads one page at a time, on demand. */
function createReader(pages: ReturnType<typeof createPages>, wake: () => void) {
  let state: "idle" | "reading" | "stopped" = "idle";
  let isAskedAgain = false;

  async function run(): Promise<void> {
    state = "reading";
    isAskedAgain = false;
    await pages.load();
    const mayHaveMore = pages.isFull();
    if (isStopped()) return;
    state = "idle";
    wake();
    if ((mayHaveMore || isAskedAgain) && !isStopped()) read();
  }

  function isStopped(): boolean {
    return state === "stopped";
  }

  function read(): void {
    isAskedAgain = true;
    if (state === "idle" && pages.isEmpty()) void run();
  }

  return {
    read,
    stop(): void {
      state = "stopped";
    },
  };
}
