import type { LogEntry, LogStore } from "../../core/store.ts";
import { checkAppend, checkKey, checkList, checkPosition, checkWhole, toKeptTexts } from "../checks.ts";
import { toPrefixEnd } from "../sorted-keys.ts";
import { checkOpen } from "../store-life.ts";
import { createFollowers, createTail, type TailSource } from "../tail.ts";
import { isBusy, parseKept, toUnavailable } from "./sqlite-errors.ts";
import { createNameIds, type NameIds, read, type SqliteParts } from "./sqlite-parts.ts";

/** Makes the `log` part of an SQLite store. */
export function sqliteLog(parts: SqliteParts): LogStore {
  const { life, database, writer } = parts;
  const ids = createNameIds(database, "streams");
  const entries = createEntries(parts, ids);
  const tails = createSqliteTails(parts, entries.read);

  return {
    async append(stream, values, options) {
      const { expectedPosition, time = life.now(), durable } = checkAppend(stream, options);
      const kept = toKeptTexts(stream, values);
      checkOpen(life, "log.append");
      const run = (): number => {
        entries.checkEnd(stream, expectedPosition);
        return entries.append(stream, kept, time);
      };
      const position = await writer.write(scopeOf(stream), run, { bytes: countBytes(kept), isDurable: durable });
      tails.wake(stream);
      return position;
    },
    async read(stream, options) {
      const { after = 0, limit = 1000 } = options ?? {};
      checkKey(stream);
      checkWhole("after", after);
      checkWhole("limit", limit);
      checkOpen(life, "log.read");
      return read(parts, "log.read", () => entries.read(stream, after, limit), scopeOf(stream));
    },
    tail(stream, options) {
      const { after = 0, signal } = options ?? {};
      return { [Symbol.asyncIterator]: () => createTail(tails.follow(stream, after), signal) };
    },
    async position(stream) {
      checkKey(stream);
      checkOpen(life, "log.position");
      return read(parts, "log.position", () => entries.position(ids.find(stream)), scopeOf(stream));
    },
    async streams(options) {
      const { prefix, after, limit } = checkList(options);
      checkOpen(life, "log.streams");
      return read(parts, "log.streams", () => entries.streams(prefix, after, limit));
    },
  };
}

function countBytes(texts: readonly string[]): number {
  return texts.reduce((sum, text) => sum + text.length, 0);
}

/** What is done with the tables. */
function createEntries({ database: { sql, number }, writer: { lastPositions } }: SqliteParts, ids: NameIds) {
  function position(id: number | undefined): number {
    if (id === undefined) return 0;
    return number("SELECT max(position) FROM entries WHERE stream = ?", id) ?? 0;
  }

  function readAfter(stream: string, after: number, limit: number): readonly LogEntry[] {
    const id = ids.find(stream);
    if (id === undefined) return [];
    return sql("SELECT position, time, value FROM entries WHERE stream = ? AND position > ? ORDER BY position LIMIT ?")
      .all(id, after, limit)
      .map((row) => toEntry(row as unknown as Row));
  }

  /** Inside of a write: where the stream ends. */
  function findEnd(stream: string): number {
    const known = lastPositions.get(stream);
    if (known !== undefined) return known;
    const found = position(ids.find(stream));
    lastPositions.set(stream, found);
    return found;
  }

  function insertAll(stream: string, values: readonly string[], time: number): number {
    let last = findEnd(stream);
    if (values.length === 0) return last;
    const id = ids.find(stream) ?? ids.make(stream);
    const insert = sql("INSERT INTO entries (stream, position, time, value) VALUES (?, ?, ?, ?)");
    for (const value of values) insert.run(id, (last += 1), time, value);
    lastPositions.set(stream, last);
    return last;
  }

  return {
    position,
    /** Inside of a write. */
    checkEnd(stream: string, expectedPosition: number | undefined): void {
      checkPosition(stream, findEnd(stream), expectedPosition);
    },
    /** Inside of a write. */
    append: insertAll,
    read: readAfter,
    streams(prefix: string, after: string, limit: number): readonly string[] {
      return sql("SELECT name FROM streams WHERE name >= ? AND name < ? AND name > ? ORDER BY name LIMIT ?")
        .all(prefix, toPrefixEnd(prefix), after, limit)
        .map((row) => String(row["name"]));
    },
  };
}

interface Row {
  readonly position: number;
  readonly time: number;
  readonly value: string;
}

function toEntry({ position, time, value }: Row): LogEntry {
  return { position, time, value: parseKept(value) };
}

function scopeOf(stream: string): string {
  return `log:${stream}`;
}

/** How many entries a tail reads ahead. */
const readAhead = 200;

/** How often to check whether another process has written, while a follower waits for an entry. */
const lookEveryMs = 20;

type Read = (stream: string, after: number, limit: number) => readonly LogEntry[];

/** The followers of streams of an SQLite store. */
interface SqliteTails {
  /** Wakes the waiting followers after an append. */
  wake(stream: string): void;
  follow(stream: string, after: number): TailSource;
}

/** Makes the tails of a store. `read` reads what is in the file. */
function createSqliteTails({ life, database }: SqliteParts, read: Read): SqliteTails {
  const followers = createFollowers();
  const watch = createWatch(() => (life.isClosed ? 0 : dataVersion()), followers.wakeAll);
  life.onClose(followers.end);

  /** Changes when another connection has written. */
  function dataVersion(): number {
    return Number(database.number("PRAGMA data_version"));
  }

  function readOn(stream: string, after: number): readonly LogEntry[] {
    try {
      return read(stream, after, readAhead);
    } catch (cause) {
      if (!isBusy(cause)) throw toUnavailable(database.file, cause);
      watch.lookAgain();
      return [];
    }
  }

  return {
    wake: followers.wake,
    follow(stream, after) {
      let position = after;
      let ahead: LogEntry[] = [];
      return {
        isClosed: () => life.isClosed,
        follow: (follower) => watch.add(followers.add(stream, follower)),
        checkStart() {
          checkKey(stream);
          checkWhole("after", after);
          checkOpen(life, "log.tail");
        },
        take() {
          if (ahead.length === 0) ahead = readOn(stream, position).toReversed();
          const entry = ahead.pop();
          if (entry) position = entry.position;
          return entry;
        },
      };
    },
  };
}

/** Polls whether `version` has changed, but only while there are followers. */
function createWatch(version: () => number, wakeAll: () => void) {
  let count = 0;
  let seen: number | undefined;
  let timer: NodeJS.Timeout | undefined;

  function look(): void {
    try {
      const found = version();
      if (found === seen) return;
      seen = found;
    } catch {
      // The woken followers read, and get the error.
    }
    wakeAll();
  }

  return {
    lookAgain() {
      seen = undefined;
    },
    /** Begins, until the function that it answers with is called; that calls `end`. */
    add(end: () => void): () => void {
      count += 1;
      timer ??= setInterval(look, lookEveryMs);
      return () => {
        end();
        count -= 1;
        if (count > 0) return;
        clearInterval(timer);
        timer = undefined;
      };
    },
  };
}
