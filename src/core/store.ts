import type { JsonValue } from "./json.ts";

/**
 * Where everything is kept that outlives a call: three primitives behind one door.
 *
 * **Contract** of every method: what a resolved promise acknowledged is kept; a call after `close` rejects with `store-failed`;
 * values are copied on the way in and out, so nobody can change what is kept by changing an object.
 */
export interface Store {
  readonly kv: KeyValueStore;
  readonly log: LogStore;
  readonly blobs: BlobStore;
  /** Waits for what is being written, then closes. Closing twice is fine. */
  close(): Promise<void>;
}

/** A value and the number of times it was written, for compare-and-set. */
export interface VersionedValue {
  readonly value: JsonValue;
  /** Starts at 1 and grows with each write; never used twice for one key while it exists. */
  readonly version: number;
}

/** What may be said with a write to {@link KeyValueStore}. */
export interface WriteOptions {
  /** The value vanishes after this time. */
  readonly expiresInMs?: number;
  /** Write only if this is the version that is there; 0 means that there is none. */
  readonly ifVersion?: number;
}

/** What part of the keys to list. */
export interface ListOptions {
  readonly prefix?: string;
  /** Only keys after this one. */
  readonly after?: string;
  /** @default 1000 */
  readonly limit?: number;
}

/**
 * Values by key. Keys are any text of 1 to 1,024 characters without NUL and without unpaired surrogates; `__proto__` is just a
 * key.
 *
 * @throws {KitbagError} `store-key-invalid` for any other key; `store-conflict` if `ifVersion` is not the version that is there.
 */
export interface KeyValueStore {
  get(key: string): Promise<VersionedValue | undefined>;
  /** Answers with the new version. */
  set(key: string, value: JsonValue, options?: WriteOptions): Promise<number>;
  /** Answers whether there was something to delete. */
  delete(key: string, options?: Pick<WriteOptions, "ifVersion">): Promise<boolean>;
  /** In the order of the keys' UTF-16 code units. */
  list(options?: ListOptions): Promise<readonly (readonly [key: string, value: VersionedValue])[]>;
  /**
   * Adds to a number in one step, from 0 if there is none, and answers with the sum. `expiresInMs` counts only when the number
   * is new, so a counter of a time window ends with it. Rejects with `store-conflict` if the value is not a number.
   */
  increment(key: string, by?: number, options?: Pick<WriteOptions, "expiresInMs">): Promise<number>;
}

/** One line of a log. */
export interface LogEntry {
  /** Counts from 1 in each stream, without gaps. */
  readonly position: number;
  /** Milliseconds since 1970. */
  readonly time: number;
  readonly value: JsonValue;
}

/** What may be said with a write to {@link LogStore}. */
export interface AppendOptions {
  /** Append only if this is the position of the last entry; 0 means that the stream is empty. */
  readonly expectedPosition?: number;
}

/** What part of a stream to read. */
export interface ReadOptions {
  /** Only entries after this position. @default 0 */
  readonly after?: number;
  /** @default 1000 */
  readonly limit?: number;
}

/** Append-only streams, each with a name that follows the rules of keys. */
export interface LogStore {
  /**
   * Appends all of `values` or none, in order, and answers with the position of the last entry.
   *
   * @throws {KitbagError} `store-conflict` if `expectedPosition` is not the last position.
   */
  append(stream: string, values: readonly JsonValue[], options?: AppendOptions): Promise<number>;
  read(stream: string, options?: ReadOptions): Promise<readonly LogEntry[]>;
  /** Yields what is there after `after`, then what is appended, until `signal` is aborted or the store is closed. */
  tail(stream: string, options?: { readonly after?: number; readonly signal?: AbortSignal }): AsyncIterable<LogEntry>;
  /** The position of the last entry; 0 for a stream that does not exist. */
  position(stream: string): Promise<number>;
}

/** Bytes, found by what they are: the same bytes are kept once. */
export interface BlobStore {
  /** Answers with the digest, `sha256:` and 64 hexadecimal digits. */
  put(bytes: Uint8Array | AsyncIterable<Uint8Array>): Promise<string>;
  get(digest: string): Promise<Uint8Array | undefined>;
  /** A part of a blob; shorter than `length` at its end. */
  slice(digest: string, offset: number, length: number): Promise<Uint8Array | undefined>;
  /** In bytes; `undefined` if there is no such blob. */
  size(digest: string): Promise<number | undefined>;
  /** Deletes every blob that is not in `keep`, and answers how many. */
  collect(keep: ReadonlySet<string>): Promise<number>;
}
