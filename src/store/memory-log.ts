import type { LogEntry, LogStore } from "../core/store.ts";
import { checkAppend, checkPosition, toKeptList } from "./check-append.ts";
import { checkKey } from "./check-key.ts";
import { checkList } from "./check-list.ts";
import { checkWhole } from "./check-whole.ts";
import { fromKept } from "./kept-value.ts";
import { checkOpen, type StoreLife } from "./store-life.ts";
import { createFollowers, createTail, type Followers, type TailSource } from "./tail.ts";
import { compareCodePoints } from "./sorted-keys.ts";

interface MemoryStreams {
  readonly life: StoreLife;
  readonly followers: Followers;
  /** Only streams that have an entry. */
  readonly entries: Map<string, LogEntry[]>;
}

/** Makes the `log` part of a memory store. */
export function memoryLog(life: StoreLife): LogStore {
  const streams: MemoryStreams = { life, followers: createFollowers(), entries: new Map() };
  life.onClose(streams.followers.end);

  return {
    async append(stream, values, options) {
      const { expectedPosition, time = life.now() } = checkAppend(stream, options);
      const kept = toKeptList(stream, values);
      checkOpen(life, "log.append");
      const entries = streams.entries.get(stream) ?? [];
      checkPosition(stream, entries.length, expectedPosition);
      if (kept.length > 0) streams.entries.set(stream, entries);
      for (const value of kept) entries.push({ position: entries.length + 1, time, value });
      streams.followers.wake(stream);
      return entries.length;
    },
    async read(stream, options) {
      const { after = 0, limit = 1000 } = options ?? {};
      checkKey(stream);
      checkWhole("after", after);
      checkWhole("limit", limit);
      checkOpen(life, "log.read");
      return (streams.entries.get(stream) ?? []).slice(after, after + limit).map(toEntry);
    },
    tail(stream, options) {
      const { after = 0, signal } = options ?? {};
      return { [Symbol.asyncIterator]: () => createTail(toSource(streams, stream, after), signal) };
    },
    async position(stream) {
      checkKey(stream);
      checkOpen(life, "log.position");
      return streams.entries.get(stream)?.length ?? 0;
    },
    async streams(options) {
      const { prefix, after, limit } = checkList(options);
      checkOpen(life, "log.streams");
      const names = [...streams.entries.keys()].filter((name) => name.startsWith(prefix));
      return names
        .filter((name) => compareCodePoints(name, after) > 0)
        .toSorted(compareCodePoints)
        .slice(0, limit);
    },
  };
}

function toSource({ life, followers, entries }: MemoryStreams, stream: string, after: number): TailSource {
  let position = after;
  return {
    isClosed: () => life.isClosed,
    follow: (follower) => followers.add(stream, follower),
    checkStart() {
      checkKey(stream);
      checkWhole("after", after);
      checkOpen(life, "log.tail");
    },
    take() {
      const entry = entries.get(stream)?.[position];
      if (entry) position += 1;
      return entry && toEntry(entry);
    },
  };
}

/** Copies an entry on its way out. */
function toEntry({ position, time, value }: LogEntry): LogEntry {
  return { position, time, value: fromKept(value) };
}
