import type { KeyValueStore, LogEntry, LogStore, Store } from "../core/store.ts";
import { createStoreLife, type StoreLife } from "./store-life.ts";
import { createFollowers, createRemoteTail } from "./tail.ts";

/** Tells processes on other machines that a stream has grown. It only wakes: what was appended is read from the log. */
export interface LiveTails {
  /** Never throws, and waits for nothing. */
  publish(stream: string): void;
  /** Has `listener` called with each stream that was published, and with none when some may have been missed. */
  subscribe(listener: (stream?: string) => void): () => void;
}

/** What takes the place of parts of a store. */
export interface StoreParts {
  /** For limits and caches. What must be kept stays in the base. */
  readonly counters?: KeyValueStore;
  readonly tails?: LiveTails;
  close(): Promise<void>;
}

/** How often followed streams are read, because a notice may be lost. */
const pollEveryMs = 1000;

/**
 * Makes one store of two: counters and live tails of `parts` if it has them, everything else of `base`. Closing it closes both.
 *
 * @example
 * ```ts
 * import { memoryStore } from "kitbag";
 * import { combineStores } from "kitbag/store";
 *
 * const { kv: counters, close } = memoryStore();
 * const store = combineStores(memoryStore(), { counters, close });
 * await store.counters?.increment("calls");
 * console.assert((await store.kv.get("calls")) === undefined);
 * await store.close();
 * ```
 */
export function combineStores(base: Store, parts: StoreParts): Store {
  const life = createStoreLife(Date.now);
  const counters = parts.counters ?? base.counters;
  return {
    kv: base.kv,
    ...(counters !== undefined && { counters }),
    log: parts.tails ? withLiveTails(base.log, parts.tails, life) : base.log,
    blobs: base.blobs,
    queue: base.queue,
    async close() {
      life.close();
      await Promise.all([base.close(), parts.close()]);
    },
  };
}

function withLiveTails(log: LogStore, tails: LiveTails, life: StoreLife): LogStore {
  const followers = createFollowers();
  const followed = new Map<string, number>();
  let timer: NodeJS.Timeout | undefined;
  const wake = (stream?: string): void => {
    for (const name of stream === undefined ? followed.keys() : [stream]) followers.wake(name);
  };
  life.onClose(() => {
    clearInterval(timer);
    followers.end();
  });

  function start(): void {
    if (timer) return;
    tails.subscribe(wake);
    timer = setInterval(wake, pollEveryMs);
  }

  const follow = (stream: string, follower: Parameters<typeof followers.add>[1]): (() => void) => {
    start();
    followed.set(stream, (followed.get(stream) ?? 0) + 1);
    const leave = followers.add(stream, follower);
    return () => {
      leave();
      const count = (followed.get(stream) ?? 0) - 1;
      if (count > 0) followed.set(stream, count);
      else followed.delete(stream);
    };
  };
  const read = (stream: string, after: number, limit: number): Promise<readonly LogEntry[]> =>
    log.read(stream, { after, limit });

  return {
    ...log,
    async append(stream, values, options) {
      const position = await log.append(stream, values, options);
      tails.publish(stream);
      return position;
    },
    tail(stream, options) {
      const { after = 0, signal } = options ?? {};
      const source = { life, stream, after, read, follow };
      return { [Symbol.asyncIterator]: () => createRemoteTail(source, signal) };
    },
  };
}
