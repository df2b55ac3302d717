import type { JsonValue } from "./json.ts";

/**
 * Keeps everything that outlives a call, in four primitives: `kv`, `log`, `blobs` and queues.
 *
 * **Contract** of every method: never throws, but rejects. What a resolved promise acknowledged is kept; one that rejects with a
 * code named here has changed nothing. Writes to one key or stream take effect in the order in which they were called. Values
 * are copied on the way in and out, so changing an object never changes what is kept.
 *
 * A key, and the name of a stream, is any text of 1 to 1,024 bytes as UTF-8, without NUL and without unpaired surrogates;
 * `__proto__` is just a key. A value is any JSON of up to 32 MiB and 128 levels, in which no object has the key `__proto__`; it
 * comes back with its keys in the same order, and `-0` as 0. Numbers in options are whole and not negative, unless they say
 * otherwise.
 *
 * @throws {KitbagError} `store-key-invalid`, `store-value-invalid` and `option-invalid` for anything else; `store-closed` after
 * `close`; `store-unavailable` if the file or the server cannot be reached, read or written now: its details say whether the write may have
 * happened. The store works again when the cause is gone; it need not be opened anew.
 */
export interface Store {
  /** Values that must not be lost: state, the keys of idempotent calls, failed calls. */
  readonly kv: KeyValueStore;
  /** Counters of limits, and caches. Losing them does no harm, so they may be in a store that evicts values. @default `kv` */
  readonly counters?: KeyValueStore;
  readonly log: LogStore;
  readonly blobs: BlobStore;
  /** The queue of this name, which exists from its first job on. */
  queue(name: string): Queue;
  /**
   * Waits for what is being written, then closes. Closing twice is fine. A blob whose bytes are still coming is not waited for:
   * its `put` rejects with `store-closed`.
   */
  close(): Promise<void>;
}

/** A value and which write it comes from, for compare-and-set. */
export interface VersionedValue {
  readonly value: JsonValue;
  /**
   * At least 1, and greater after each write of the key, also when it was deleted or had expired in between: a caller with an
   * old version can never hit a newer value with it.
   */
  readonly version: number;
}

/** A value as {@link KeyValueStore.list} finds it. */
export interface ListedValue extends VersionedValue {
  /** The time until it expires, at least 1; not set if it never expires. */
  readonly expiresInMs?: number;
}

/** Options of a write to {@link KeyValueStore}. */
export interface WriteOptions {
  /** The value vanishes after this time, at least 1. @default never, also if the value before had a time */
  readonly expiresInMs?: number;
  /** Write only if this is the version that is there; 0 means that the key must not exist. */
  readonly ifVersion?: number;
  /** With `false` it need not be on disk yet when it is acknowledged, as with {@link AppendOptions.durable}. @default true */
  readonly durable?: boolean;
}

/** Which keys, or which streams, to list. */
export interface ListOptions {
  readonly prefix?: string;
  /** Only keys after this one, which need not exist. */
  readonly after?: string;
  /** @default 1000 */
  readonly limit?: number;
}

/**
 * Values by key. A value that has expired is nowhere to be seen: for every method it is as if it had been deleted.
 *
 * @throws {KitbagError} `store-conflict` if `ifVersion` is not the version that is there.
 */
export interface KeyValueStore {
  get(key: string): Promise<VersionedValue | undefined>;
  /** Answers with the new version. */
  set(key: string, value: JsonValue, options?: WriteOptions): Promise<number>;
  /** Answers whether the key had a value. */
  delete(key: string, options?: Pick<WriteOptions, "ifVersion" | "durable">): Promise<boolean>;
  /** In the order of the keys' code points, which is the order of their bytes as UTF-8. */
  list(options?: ListOptions): Promise<readonly (readonly [key: string, value: ListedValue])[]>;
  /**
   * Adds `by`, a whole number that may be negative, in one step, from 0 if there is nothing, and answers with the sum.
   * `expiresInMs` counts only when the number is new, so a counter of a time window ends with it.
   *
   * @throws {KitbagError} `store-conflict` if what is there, or the sum, is not a safe integer.
   */
  increment(key: string, by?: number, options?: Pick<WriteOptions, "expiresInMs" | "durable">): Promise<number>;
}

/** One line of a log. */
export interface LogEntry {
  /** Counts from 1 in each stream, without gaps. */
  readonly position: number;
  /** Milliseconds since 1970; it goes back when the clock does. The order is that of `position`. */
  readonly time: number;
  readonly value: JsonValue;
}

/** Options of a write to {@link LogStore}. */
export interface AppendOptions {
  /** Append only if this is the position of the last entry; 0 means that the stream is empty. */
  readonly expectedPosition?: number;
  /** When the entries were written, if they come from another store: milliseconds since 1970. @default now, by the store's clock */
  readonly time?: number;
  /**
   * With `false` the entries need not be on disk yet when they are acknowledged: they survive the end of the process, and a loss of
   * power once anything was written after them that does not say so. A store may do more. @default true
   */
  readonly durable?: boolean;
}

/** Which entries of a stream to read. */
export interface ReadOptions {
  /** Only entries after this position. @default 0 */
  readonly after?: number;
  /** @default 1000 */
  readonly limit?: number;
}

/** Append-only streams, each with a name. A stream exists from its first entry on. */
export interface LogStore {
  /**
   * Appends all of `values` or none, in order and next to each other, and answers with the position of the last entry. No values
   * append nothing, but `expectedPosition` is still checked.
   *
   * @throws {KitbagError} `store-conflict` if `expectedPosition` is not the last position.
   */
  append(stream: string, values: readonly JsonValue[], options?: AppendOptions): Promise<number>;
  read(stream: string, options?: ReadOptions): Promise<readonly LogEntry[]>;
  /**
   * Yields the entries after `after`, then those that are appended, each once and in order. When `signal` is aborted, the store is
   * closed or the reader stops, it ends without an error: it drops the entries that it has not yielded yet, and removes its listeners.
   * A wrong argument is an error where the first entry is awaited. Iterate it once.
   */
  tail(stream: string, options?: { readonly after?: number; readonly signal?: AbortSignal }): AsyncIterable<LogEntry>;
  /** The position of the last entry; 0 for a stream that does not exist. */
  position(stream: string): Promise<number>;
  /** The names of the streams, in the order of their code points. */
  streams(options?: ListOptions): Promise<readonly string[]>;
}

/** Which other blobs {@link BlobStore.collect} does not delete. */
export interface CollectOptions {
  /**
   * Blobs that were put, for the first time or again, less than this time ago: their caller may not have written the reference to them
   * yet. @default 0
   */
  readonly minAgeMs?: number;
}

/** Bytes by their digest: the same bytes are kept once. */
export interface BlobStore {
  /**
   * Answers with the digest, `sha256:` and 64 hexadecimal digits in lower case. If `bytes` throws, rejects with what it threw and
   * keeps nothing.
   */
  put(bytes: Uint8Array | AsyncIterable<Uint8Array>): Promise<string>;
  get(digest: string): Promise<Uint8Array | undefined>;
  /** A part of a blob; shorter than `length` at its end, and empty behind it. */
  slice(digest: string, offset: number, length: number): Promise<Uint8Array | undefined>;
  /** In bytes; `undefined` if there is no such blob. */
  size(digest: string): Promise<number | undefined>;
  /** The digests of all blobs, in order. */
  list(options?: Omit<ListOptions, "prefix">): Promise<readonly string[]>;
  /** Deletes every blob that is not in `keep`, and answers how many. */
  collect(keep: ReadonlySet<string>, options?: CollectOptions): Promise<number>;
}

/** Options of a job that is added. */
export interface JobOptions {
  /** Jobs with a higher number go first, from -1,000,000 to 1,000,000. @default 0 */
  readonly priority?: number;
  /** No worker can claim it before this time has passed. @default 0 */
  readonly delayMs?: number;
}

/** How jobs are claimed. */
export interface ClaimOptions {
  /** How long no other worker can claim them, unless the lease is extended; at least 1. */
  readonly leaseMs: number;
  /** @default 1 */
  readonly limit?: number;
}

/** A job that was claimed. */
export interface Job {
  readonly id: string;
  /** How often it was claimed, this time included: at least 1. A worker with an older number has lost the job. */
  readonly attempt: number;
}

/** How many jobs a queue has, by their state. */
export interface QueueCounts {
  /** Can be claimed now. Jobs whose lease is over count here. */
  readonly ready: number;
  readonly delayed: number;
  readonly claimed: number;
}

/**
 * Jobs that wait for a worker. A queue carries ids only. What to do for an id is kept elsewhere, so a job that comes twice does no
 * harm.
 *
 * **Contract**: at least once. A job can be claimed again when its lease is over, so each job is done as long as some worker claims jobs.
 * A worker that was too slow gets `job-lost`. Like all methods of a store these never throw, but reject.
 *
 * @throws {KitbagError} `store-key-invalid` for an id or a name that cannot be a key, `option-invalid` for a wrong number.
 */
export interface Queue {
  /**
   * Adds a job. If a job of this id waits already, it keeps the earlier time and the higher priority of the two. If it is claimed, nothing
   * changes. Answers whether a job was added.
   */
  add(id: string, options?: JobOptions): Promise<boolean>;
  /** Claims jobs that are ready: the highest priority first, and among equals the one that was ready first. */
  claim(options: ClaimOptions): Promise<readonly Job[]>;
  /**
   * Starts the lease anew.
   *
   * @throws {KitbagError} `job-lost` if the lease was over and another worker has the job, or it is gone.
   */
  extend(job: Job, leaseMs: number): Promise<void>;
  /**
   * Removes the job, because it is done.
   *
   * @throws {KitbagError} `job-lost`
   */
  complete(job: Job): Promise<void>;
  /**
   * Gives the job back, so that it can be claimed again.
   *
   * @throws {KitbagError} `job-lost`
   */
  release(job: Job, options?: Pick<JobOptions, "delayMs">): Promise<void>;
  count(): Promise<QueueCounts>;
}
