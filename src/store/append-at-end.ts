/*
 * The store: drivers for `Store` of `core/store.ts`: memory, SQLite, Postgres, Redis. May import `platform` and `core`. Start with
 * `memory-store.ts`, then `sqlite/sqlite-store.ts` and `sqlite/sqlite-writer.ts`, which decides what is committed together.
 */
import type { JsonValue } from "../core/json.ts";
import type { KeyValueStore, LogStore } from "../core/store.ts";

/** The end of a stream, while no other append can change it. */
export interface StreamEnd {
  /** The position of the last entry; 0 for a stream without entries. */
  readonly position: number;
  readLast(): JsonValue | undefined;
}

/** A change of one value that is committed together with an append. */
export interface KeyChange {
  readonly key: string;
  /** The new value, as JSON; without one the key is deleted. */
  readonly text?: string;
  /** The version that must be there. If it is not, nothing is set and nothing appended; a key to delete then just stays. */
  readonly ifVersion: number;
  readonly expiresInMs?: number;
}

/** What to append, as JSON that the store may hold: it is not checked again. */
export interface NextEntries {
  readonly texts: readonly string[];
  readonly change?: KeyChange | undefined;
}

/** Where an append ended, and the version of the changed value; 0 if there is no value. */
export interface AppendedAt {
  readonly position: number;
  readonly version: number;
}

/** What a log can do beyond `LogStore`, if its driver commits all writes of one moment together. */
export interface AppendAtEnd {
  /** The values whose changes can be committed with an append. */
  readonly kv: KeyValueStore;
  /**
   * Appends what `make` answers at the moment of the commit, so that lines which come until then go along, and lines which hold a
   * hash of the one before them need not wait for it. The change is in the same commit: both are on disk, or neither is.
   *
   * **Contract**: `make` is called again if the commit came to nothing, so it changes nothing that matters then. If it throws a
   * `KitbagError`, nothing is appended. `bytes` is about how much it will append.
   *
   * @throws {KitbagError} what `append` throws, and `store-conflict` if the value to set has another version.
   */
  append(stream: string, make: (end: StreamEnd) => NextEntries, bytes?: number): Promise<AppendedAt>;
}

/** The logs that can do it. Not a part of `LogStore`: a wrapper around a log sees each append. */
export const appendsAtEnd = new WeakMap<LogStore, AppendAtEnd>();
