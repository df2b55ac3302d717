import type { LogEntry } from "../../core/store.ts";
import { checkKey } from "../check-key.ts";
import { checkWhole } from "../check-whole.ts";
import { checkOpen } from "../store-life.ts";
import { createFollowers, type TailSource } from "../tail.ts";
import { isBusy, toUnavailable } from "./sqlite-errors.ts";
import type { SqliteParts } from "./sqlite-parts.ts";

/** How many entries a tail reads ahead. */
const readAhead = 200;

/** How often to look whether another process has written, while somebody waits for an entry. */
const lookEveryMs = 20;

type Read = (stream: string, after: number, limit: number) => readonly LogEntry[];

/** Those who follow streams of an SQLite store. */
export interface SqliteTails {
  /** Tells those who wait that something was appended. */
  wake(stream: string): void;
  follow(stream: string, after: number): TailSource;
}

/** Makes the tails of a store. `read` reads what is in the file. */
export function createSqliteTails({ life, database }: SqliteParts, read: Read): SqliteTails {
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

/** Looks again and again whether `version` has changed, but only while there is somebody who wants to know. */
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
      // Whoever wakes up reads, and learns what is wrong.
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
