/*
 * The store: drivers for `Store` of `core/store.ts`: memory, SQLite, Postgres, Redis. May import `platform` and `core`. Start with
 * `memory-store.ts`, then `sqlite/sqlite-store.ts` and `sqlite/sqlite-writer.ts`, which decides what is committed together.
 */
import { hash } from "node:crypto";
import { isUint8Array } from "node:util/types";

import { KitbagError } from "../core/errors.ts";
import { showValue } from "../core/json.ts";
import type { BlobStore, Job, LogEntry, LogStore, Queue, Store } from "../core/store.ts";
import {
  checkAdd,
  checkAppend,
  checkClaim,
  checkJob,
  checkKeep,
  checkKey,
  checkList,
  checkPiece,
  checkPosition,
  checkSource,
  checkWhole,
  toKeptList,
} from "./checks.ts";
import { fromKept } from "./kept-value.ts";
import { createMemoryJobs, type KeptJob, type MemoryJobs } from "./memory-jobs.ts";
import { memoryKv } from "./memory-kv.ts";
import { compareCodePoints } from "./sorted-keys.ts";
import { checkOpen, createStoreLife, type StoreLife } from "./store-life.ts";
import { createFollowers, createTail, type Followers, type TailSource } from "./tail.ts";

/** What {@link memoryStore} takes. */
export interface MemoryStoreOptions {
  /** The clock, in milliseconds since 1970. @default Date.now */
  readonly now?: () => number;
}

/**
 * Makes a store that lives as long as the process. It keeps everything until it is deleted, collected or expires, and drops
 * nothing to save memory.
 *
 * @throws {KitbagError} `option-invalid` if `now` is not a function.
 *
 * @example
 * ```ts
 * import { memoryStore } from "kitbag";
 *
 * const store = memoryStore();
 * await store.kv.set("visits", 41);
 * console.assert((await store.kv.increment("visits")) === 42);
 * await store.close();
 * ```
 */
export function memoryStore({ now = Date.now }: MemoryStoreOptions = {}): Store {
  if (typeof now !== "function") {
    throw new KitbagError("option-invalid", { option: "now", found: showValue(now), expected: "a function" });
  }
  const life = createStoreLife(now);
  return {
    kv: memoryKv(life),
    log: memoryLog(life),
    blobs: memoryBlobs(life),
    queue: memoryQueues(life),
    async close() {
      life.close();
    },
  };
}

/** Makes the queues of a memory store. */
function memoryQueues(life: StoreLife): (name: string) => Queue {
  /** Only queues that have a job. */
  const queues = new Map<string, MemoryJobs>();
  return (name) => createMemoryQueue(life, queues, name);
}

function createMemoryQueue(life: StoreLife, queues: Map<string, MemoryJobs>, name: string): Queue {
  /** The jobs of this queue, once the name and the store are known to be right. */
  function open(operation: string): MemoryJobs {
    checkKey(name);
    checkOpen(life, operation);
    return queues.get(name) ?? createMemoryJobs(life.now);
  }

  /** Changes a job if it is still the one that was claimed. */
  function change(operation: string, given: Job, make: (jobs: MemoryJobs, job: KeptJob) => void): void {
    const { id, attempt } = checkJob(given);
    const jobs = open(operation);
    const job = jobs.get(id);
    if (job?.isClaimed !== true || job.attempt !== attempt) {
      throw new KitbagError("job-lost", { queue: name, job: id, attempt });
    }
    make(jobs, job);
  }

  return {
    async add(id, options) {
      const job = checkAdd(id, options);
      const jobs = open("queue.add");
      queues.set(name, jobs);
      return jobs.add(id, job);
    },
    async claim(options) {
      const { leaseMs, limit } = checkClaim(options);
      return open("queue.claim").claim(leaseMs, limit);
    },
    async extend(given, leaseMs) {
      checkWhole("leaseMs", leaseMs, 1);
      change("queue.extend", given, (jobs, job) => jobs.wait(job, leaseMs));
    },
    async complete(given) {
      change("queue.complete", given, (jobs, job) => {
        jobs.delete(job);
        if (jobs.size === 0) queues.delete(name);
      });
    },
    async release(given, options) {
      const { delayMs } = checkAdd(checkJob(given).id, options);
      change("queue.release", given, (jobs, job) => {
        job.isClaimed = false;
        jobs.wait(job, delayMs);
      });
    },
    async count() {
      return open("queue.count").count();
    },
  };
}

interface Blob {
  readonly bytes: Uint8Array;
  /** By the clock of the store: when it was put last. */
  putAt: number;
}

/** Makes the `blobs` part of a memory store. */
function memoryBlobs(life: StoreLife): BlobStore {
  const blobs = new Map<string, Blob>();

  return {
    async put(source) {
      const bytes = isUint8Array(source) ? new Uint8Array(source) : await readAll(life, source);
      const putAt = life.now();
      checkOpen(life, "blobs.put");
      const digest = `sha256:${hash("sha256", bytes)}`;
      const known = blobs.get(digest);
      if (known) known.putAt = putAt;
      else blobs.set(digest, { bytes, putAt });
      return digest;
    },
    async get(digest) {
      checkOpen(life, "blobs.get");
      const blob = blobs.get(digest);
      return blob && new Uint8Array(blob.bytes);
    },
    async slice(digest, offset, length) {
      checkWhole("offset", offset);
      checkWhole("length", length);
      checkOpen(life, "blobs.slice");
      return blobs.get(digest)?.bytes.slice(offset, offset + length);
    },
    async size(digest) {
      checkOpen(life, "blobs.size");
      return blobs.get(digest)?.bytes.length;
    },
    async list(options) {
      const { after, limit } = checkList(options);
      checkOpen(life, "blobs.list");
      const digests = [...blobs.keys()].filter((digest) => digest > after);
      return digests.toSorted().slice(0, limit);
    },
    async collect(keep, options) {
      const { minAgeMs = 0 } = options ?? {};
      checkKeep(keep);
      checkWhole("minAgeMs", minAgeMs);
      const putBefore = life.now() - minAgeMs;
      checkOpen(life, "blobs.collect");
      const unwanted = [...blobs].filter(([digest, { putAt }]) => putAt <= putBefore && !keep.has(digest));
      for (const [digest] of unwanted) blobs.delete(digest);
      return unwanted.length;
    },
  };
}

async function readAll(life: StoreLife, source: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  checkSource(source);
  const pieces: Uint8Array[] = [];
  for await (const piece of source) {
    checkOpen(life, "blobs.put");
    checkPiece(piece);
    pieces.push(new Uint8Array(piece));
  }
  return new Uint8Array(Buffer.concat(pieces));
}

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
