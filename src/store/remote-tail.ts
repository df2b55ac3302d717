import type { LogEntry } from "../core/store.ts";
import { checkKey } from "./check-key.ts";
import { checkWhole } from "./check-whole.ts";
import { checkOpen, type StoreLife } from "./store-life.ts";
import { createTail, type Follower } from "./tail.ts";

/** A stream on another machine. */
export interface RemoteStream {
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
      // Whoever follows is woken again when the server is back.
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

/** Makes what reads on when it is told to, for one who waits; it reads one page at a time. */
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
