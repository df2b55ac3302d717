import { AssertionError } from "node:assert";

import { expect, test } from "vitest";

import { KitbagError } from "../core/errors.ts";
import type { JsonValue } from "../core/json.ts";
import type { Job, Queue, BlobStore, KeyValueStore, LogEntry, LogStore, Store } from "../core/store.ts";
import { memoryStore } from "../store/memory-store.ts";
import { storeConformance } from "./store-conformance.ts";

const clock = createClock();

/** Mistakes that a driver may well make, and the check that must notice. */
const faults: readonly { fault: string; check: string; store: (good: Store) => Store }[] = [
  {
    fault: "throws at once instead of rejecting",
    check: "kv refuses wrong keys in every method",
    store: withKv(() => ({
      get(key) {
        throw new KitbagError("store-key-invalid", { key, reason: "it is wrong" });
      },
    })),
  },
  {
    fault: "brings keys into a normal form",
    check: "kv keeps odd keys apart",
    store: withKv((kv) => ({
      get: (key) => kv.get(key.normalize()),
      set: (key, ...rest) => kv.set(key.normalize(), ...rest),
    })),
  },
  {
    fault: "writes values with JSON.stringify and no check",
    check: "kv.set() refuses what is not JSON and leaves the old value",
    store: withKv((kv) => ({ set: async (key, value) => kv.set(key, JSON.parse(JSON.stringify(value) ?? "null")) })),
  },
  {
    fault: "sorts the keys of objects",
    check: "kv.set() keeps the order of an object's keys",
    store: withKv((kv) => ({ set: (key, value) => kv.set(key, sortKeys(value)) })),
  },
  {
    fault: "drops NUL from texts",
    check: "kv.set() keeps every JSON value as it is",
    store: withKv((kv) => ({
      set: (key, value) => kv.set(key, typeof value === "string" ? value.replaceAll("\0", "") : value),
    })),
  },
  {
    fault: "copies the value only when it is written",
    check: "kv.set() keeps a copy that a change of the argument does not reach",
    store: withKv((kv) => ({ set: async (...args) => later(() => kv.set(...args)) })),
  },
  {
    fault: "gives everybody the same object",
    check: "kv.get() and kv.list() give copies that can be changed",
    store: withKv((kv) => {
      const given = new Map<string, ReturnType<KeyValueStore["get"]>>();
      return { get: (key) => given.get(key) ?? given.set(key, kv.get(key)).get(key) ?? kv.get(key) };
    }),
  },
  {
    fault: "writes in any order",
    check: "kv.set() takes effect in the order of the calls",
    store: withKv((kv) => ({
      set: async (key, value) => (value === 7 ? later(() => kv.set(key, value)) : kv.set(key, value)),
    })),
  },
  {
    fault: "counts versions from 1 again after a delete",
    check: "kv.set() gives a key that was deleted or had expired a greater version than before",
    store: withKv((kv) => ({ set: async (...args) => ((await kv.set(...args)) > 0 ? 1 : 0) })),
  },
  {
    fault: "ignores ifVersion",
    check: "kv.set() with ifVersion writes only over that version",
    store: withKv((kv) => ({ set: (key, value) => kv.set(key, value) })),
  },
  {
    fault: "compares versions and writes later",
    check: "kv.set() lets exactly one of several writers win",
    store: withKv((kv) => ({
      async set(key, value, { ifVersion } = {}) {
        const version = (await kv.get(key))?.version ?? 0;
        if (ifVersion !== undefined && ifVersion !== version) await kv.set(key, value, { ifVersion });
        return kv.set(key, value);
      },
    })),
  },
  {
    fault: "deletes whatever the version",
    check: "kv.delete() with ifVersion deletes only that version",
    store: withKv((kv) => ({ delete: (key) => kv.delete(key) })),
  },
  {
    fault: "never lets a value expire",
    check: "kv.set() with expiresInMs keeps the value until then and not longer",
    store: withKv((kv) => ({ set: (key, value) => kv.set(key, value) })),
  },
  {
    fault: "lists what has expired",
    check: "kv.list() leaves out what has expired",
    store: withKv((kv) => ({ set: (key, value) => kv.set(key, value) })),
  },
  {
    fault: "does not say that a value has a time",
    check: "kv.list() says what is left of a value's time",
    store: withKv((kv) => ({
      list: async (options) =>
        (await kv.list(options)).map(([key, { value, version }]) => [key, { value, version }] as const),
    })),
  },
  {
    fault: "keeps the time of the value before",
    check: "kv.set() without expiresInMs takes an earlier time back",
    store: withKv((kv) => ({ set: (key, value) => kv.set(key, value, { expiresInMs: 400 }) })),
  },
  {
    fault: "adds by reading and then writing",
    check: "kv.increment() loses nothing when many add at once",
    store: withKv((kv) => ({ increment: (key, by = 1) => readAndAdd(kv, key, by) })),
  },
  {
    fault: "starts the time of a counter again with each number",
    check: "kv.increment() starts the time of a window with its first number",
    store: withKv((kv) => ({
      async increment(key, by = 1, options) {
        const sum = await kv.increment(key, by);
        await kv.set(key, sum, options);
        return sum;
      },
    })),
  },
  {
    fault: "adds to a text",
    check: "kv.increment() refuses what is not a whole number and leaves it",
    store: withKv((kv) => ({ increment: async (key, by = 1) => readAndAdd(kv, key, by) })),
  },
  {
    fault: "takes any number in options",
    check: "kv refuses wrong numbers in options",
    store: withKv((kv) => ({ list: () => kv.list() })),
  },
  {
    fault: "sorts by UTF-16",
    check: "kv.list() sorts by code points",
    store: withKv((kv) => ({
      list: async () => (await kv.list()).toSorted(([left], [right]) => (left < right ? -1 : 1)),
    })),
  },
  {
    fault: "takes a prefix for a pattern",
    check: "kv.list() finds a prefix, whatever characters it has",
    store: withKv((kv) => ({ list: (options) => kv.list(options?.prefix === "%" ? {} : options) })),
  },
  {
    fault: "begins a page with the last key of the one before",
    check: "kv.list() gives pages that have every key once",
    store: withKv((kv) => ({
      list: ({ after = "", ...rest } = {}) => kv.list({ ...rest, after: after.slice(0, -1) }),
    })),
  },
  {
    fault: "lists everything",
    check: "kv.list() stops at 1000 unless told otherwise",
    store: withKv((kv) => ({ list: (options) => kv.list({ limit: 100_000, ...options }) })),
  },
  {
    fault: "stays open",
    check: "kv rejects in every method once the store is closed",
    store: (good) => ({ ...good, async close() {} }),
  },
  {
    fault: "gives every entry the time of now",
    check: "log.append() keeps the time of entries that come from another store",
    store: withLog((log) => ({
      append: (stream, values, { expectedPosition } = {}) =>
        log.append(stream, values, expectedPosition === undefined ? {} : { expectedPosition }),
    })),
  },
  {
    fault: "appends value by value",
    check: "log.append() appends all values or none",
    store: withLog((log) => ({
      async append(stream, values) {
        for (const value of values) await log.append(stream, [value]);
        return log.position(stream);
      },
    })),
  },
  {
    fault: "looks at the position and appends later",
    check: "log.append() lets exactly one of several writers win",
    store: withLog((log) => ({
      async append(stream, values, { expectedPosition } = {}) {
        const position = await log.position(stream);
        if (expectedPosition !== position)
          await log.append(stream, [], { expectedPosition: expectedPosition ?? position });
        return log.append(stream, values);
      },
    })),
  },
  {
    fault: "mixes batches",
    check: "log.append() keeps batches whole and in the order of the calls",
    store: withLog((log) => ({
      async append(stream, values) {
        for (const value of values) await log.append(stream, [value]);
        return log.position(stream);
      },
    })),
  },
  {
    fault: "reads everything",
    check: "log.read() stops at 1000 unless told otherwise",
    store: withLog((log) => ({ read: (stream, options) => log.read(stream, { limit: 100_000, ...options }) })),
  },
  {
    fault: "counts positions from 0",
    check: "log.read() answers with the entries in order, counted from 1",
    store: withLog((log) => ({
      read: async (...args) => (await log.read(...args)).map((entry) => ({ ...entry, position: entry.position - 1 })),
    })),
  },
  {
    fault: "lists streams that have no entry",
    check: "log.streams() answers with the names of the streams that have an entry, once each",
    store: withLog((log) => ({ streams: async (options) => [...(await log.streams(options)), "empty"] })),
  },
  {
    fault: "sorts streams by UTF-16",
    check: "log.streams() sorts by code points",
    store: withLog((log) => ({ streams: async (options) => (await log.streams(options)).toSorted() })),
  },
  {
    fault: "lists streams whatever their prefix",
    check: "log.streams() finds a prefix, whatever characters it has",
    store: withLog((log) => ({ streams: () => log.streams() })),
  },
  {
    fault: "begins each page of streams anew",
    check: "log.streams() gives pages that have every name once",
    store: withLog((log) => ({ streams: ({ prefix = "", limit = 1000 } = {}) => log.streams({ prefix, limit }) })),
  },
  {
    fault: "takes any number of streams",
    check: "log.streams() refuses wrong options, and rejects once the store is closed",
    store: withLog((log) => ({ streams: () => log.streams() })),
  },
  {
    fault: "shows only what comes after the tail was opened",
    check: "log.tail() yields what is there, then what is appended",
    store: withLog((log) => ({
      async *tail(stream, options) {
        yield* log.tail(stream, { ...options, after: await log.position(stream) });
      },
    })),
  },
  {
    fault: "shows an entry twice",
    check: "log.tail() sees every entry once and in order while others append",
    store: withLog((log) => ({
      async *tail(stream, options) {
        for await (const entry of log.tail(stream, options)) {
          yield entry;
          if (entry.position === 50) yield entry;
        }
      },
    })),
  },
  {
    fault: "throws when the signal is aborted",
    check: "log.tail() ends when the signal is aborted, also while it waits",
    store: withLog((log) => ({
      async *tail(stream, options) {
        yield* log.tail(stream, options);
        options?.signal?.throwIfAborted();
      },
    })),
  },
  {
    fault: "goes on after the signal was aborted",
    check: "log.tail() yields nothing more after the signal was aborted",
    store: withLog((log) => ({ tail: (stream, options) => log.tail(stream, { after: options?.after ?? 0 }) })),
  },
  {
    fault: "leaves its listener on the signal",
    check: "log.tail() leaves no listener on the signal",
    store: withLog((log) => ({
      tail(stream, options) {
        options?.signal?.addEventListener("abort", () => undefined);
        return log.tail(stream, options);
      },
    })),
  },
  {
    fault: "lets a tail wait for ever when the store is closed",
    check: "log.tail() ends when the store is closed",
    store: (good) => ({ ...good, log: { ...good.log, tail: () => ({ [Symbol.asyncIterator]: () => neverEnding() }) } }),
  },
  {
    fault: "cannot be stopped while it waits, as a generator cannot",
    check: "log.tail() ends when the reader stops, between entries and while it waits",
    store: withLog((log) => ({
      async *tail(stream, options) {
        yield* log.tail(stream, options);
      },
    })),
  },
  {
    fault: "throws at once for a wrong stream",
    check: "log.tail() rejects for wrong arguments when the first entry is awaited",
    store: withLog(() => ({
      tail() {
        throw new KitbagError("store-key-invalid", { key: "", reason: "it is wrong" });
      },
    })),
  },
  {
    fault: "writes digests in capitals",
    check: "blobs.put() answers with the SHA-256 digest of the bytes",
    store: withBlobs((blobs) => ({ put: async (bytes) => (await blobs.put(bytes)).toUpperCase() })),
  },
  {
    fault: "reads the bytes only later",
    check: "blobs.put() copies what it is given, also pieces in a buffer that is used again",
    store: withBlobs((blobs) => ({ put: async (bytes) => later(() => blobs.put(bytes)) })),
  },
  {
    fault: "keeps what came before the source failed",
    check: "blobs.put() keeps nothing of bytes that fail on the way",
    store: withBlobs((blobs) => ({
      async put(bytes) {
        if (bytes instanceof Uint8Array) return blobs.put(bytes);
        for await (const chunk of bytes) await blobs.put(chunk);
        return "sha256:";
      },
    })),
  },
  {
    fault: "fills up a part that is too short",
    check: "blobs.slice() answers with a part, shorter at the end",
    store: withBlobs((blobs) => ({
      async slice(digest, offset, length) {
        const part = new Uint8Array(Math.min(length, 100));
        part.set((await blobs.slice(digest, offset, length)) ?? []);
        return part;
      },
    })),
  },
  {
    fault: "lists blobs in the order in which they were put",
    check: "blobs.list() answers with the digests of all blobs, in order",
    store: withBlobs((blobs) => ({ list: async (options) => (await blobs.list(options)).toReversed() })),
  },
  {
    fault: "lists blobs that were collected",
    check: "blobs.list() forgets what was collected, and knows nothing of what failed on the way",
    store: withBlobs((blobs) => ({ collect: async () => 0, list: blobs.list })),
  },
  {
    fault: "begins each page of blobs anew",
    check: "blobs.list() gives pages that have every digest once",
    store: withBlobs((blobs) => ({ list: ({ limit = 1000 } = {}) => blobs.list({ limit }) })),
  },
  {
    fault: "takes any number of blobs",
    check: "blobs.list() refuses wrong options, and rejects once the store is closed",
    store: withBlobs((blobs) => ({ list: () => blobs.list() })),
  },
  {
    fault: "collects what was put just now",
    check: "blobs.collect() leaves alone what was put, or put again, a short time ago",
    store: withBlobs((blobs) => ({ collect: (keep) => blobs.collect(keep) })),
  },
  {
    fault: "takes a list for an empty set",
    check: "blobs.collect() refuses a wrong set and a wrong age, and deletes nothing",
    store: withBlobs((blobs) => ({ collect: (keep) => blobs.collect(keep instanceof Set ? keep : new Set()) })),
  },
  {
    fault: "waits for a source that has stopped when it is closed",
    check: "close() does not wait for bytes that are still coming, and their put rejects",
    store(good) {
      let last = Promise.resolve("");
      const blobs: BlobStore = { ...good.blobs, put: (bytes) => (last = good.blobs.put(bytes)) };
      const close = async (): Promise<void> => {
        const pending = last;
        // Only the first close hangs, so that the test need not wait for the second.
        last = Promise.resolve("");
        await pending;
      };
      return { ...good, blobs, close };
    },
  },
  {
    fault: "hands out the newest job first",
    check: "queue.claim() hands out jobs in the order in which they were added",
    store: withQueue((queue) => ({ claim: async (options) => (await queue.claim(options)).toReversed() })),
  },
  {
    fault: "forgets priorities",
    check: "queue.claim() hands out the highest priority first",
    store: withQueue((queue) => ({ add: (id, options) => queue.add(id, { delayMs: options?.delayMs ?? 0 }) })),
  },
  {
    fault: "gives a job back with another priority",
    check: "queue.release() gives the job back with its priority, at once or later",
    store: withQueue((queue) => ({
      async release(job, options) {
        await queue.complete(job);
        await queue.add(job.id, options);
      },
    })),
  },
  {
    fault: "hands out all jobs at once",
    check: "queue.claim() takes one job unless told otherwise",
    store: withQueue((queue) => ({ claim: (options) => queue.claim({ limit: 10, ...options }) })),
  },
  {
    fault: "looks for jobs and marks them later",
    check: "queue.claim() gives no job to two of twenty who claim at once",
    store: withQueue((queue) => {
      let looking: ReturnType<Queue["claim"]> | undefined;
      return {
        async claim(options) {
          looking ??= later(() => queue.claim(options));
          const jobs = await looking;
          looking = undefined;
          return jobs;
        },
        complete: (job) => queue.complete(job).catch(() => undefined),
      };
    }),
  },
  {
    fault: "replaces a job that is there",
    check: "queue.add() brings a job forward that waits, and puts none back",
    store: withQueue((queue) => ({
      async add(id, options) {
        const jobs = await queue.claim({ leaseMs: 1, limit: 100 });
        for (const job of jobs) await (job.id === id ? queue.complete(job) : queue.release(job));
        return queue.add(id, options);
      },
    })),
  },
  {
    fault: "takes no notice of a job that is there",
    check: "queue.add() brings a job forward that waits, and puts none back",
    store: withQueue((queue) => {
      const known = new Set<string>();
      return { add: async (id, options) => !known.has(id) && (known.add(id), queue.add(id, options)) };
    }),
  },
  {
    fault: "begins a job anew that is claimed",
    check: "queue.add() leaves a job that is claimed as it is",
    store: withQueue((queue) => {
      const claimed = new Map<string, Job>();
      return {
        async claim(options) {
          const jobs = await queue.claim(options);
          for (const job of jobs) claimed.set(job.id, job);
          return jobs;
        },
        async add(id, options) {
          const job = claimed.get(id);
          if (job) await queue.complete(job);
          return queue.add(id, options);
        },
      };
    }),
  },
  {
    fault: "hands out delayed jobs at once",
    check: "queue.add() with delayMs keeps a job back for that time",
    store: withQueue((queue) => ({ add: (id, options) => queue.add(id, { priority: options?.priority ?? 0 }) })),
  },
  {
    fault: "never ends a lease",
    check: "queue.claim() hands out a job again when its lease is over, and not before",
    store: withQueue((queue) => ({ claim: (options) => queue.claim({ ...options, leaseMs: 1e9 }) })),
  },
  {
    fault: "counts every claim as the first",
    check: "queue.claim() hands out a job again when its lease is over, and not before",
    store: withQueue((queue) => ({
      claim: async (options) => (await queue.claim(options)).map((job) => ({ ...job, attempt: 1 })),
    })),
  },
  {
    fault: "lets somebody finish a job that another one has",
    check: "queue tells who was too slow that the job is lost",
    store: withQueue((queue) => ({ complete: (job) => queue.complete(job).catch(() => undefined) })),
  },
  {
    fault: "takes a job from one who was slow though nobody else wants it",
    check: "queue lets a worker that was too slow go on as long as no other worker has the job",
    store: withQueue((queue) => ({
      async extend(job, leaseMs) {
        if ((await queue.count()).claimed === 0)
          throw new KitbagError("job-lost", { queue: "", job: job.id, attempt: 1 });
        await queue.extend(job, leaseMs);
      },
    })),
  },
  {
    fault: "adds a new lease to the old one",
    check: "queue.extend() starts the lease anew, longer or shorter",
    store: withQueue((queue) => ({ extend: (job, leaseMs) => queue.extend(job, leaseMs + 400) })),
  },
  {
    fault: "gives a finished job back",
    check: "queue.complete() takes the job out, once",
    store: withQueue((queue) => ({ complete: (job) => queue.release(job) })),
  },
  {
    fault: "waits for the end of the lease of a job that was given back",
    check: "queue.release() ends the claim: who gave a job back does not have it",
    store: withQueue((queue) => ({ release: (job) => queue.extend(job, 1) })),
  },
  {
    fault: "lets anybody finish a job that nobody has claimed",
    check: "queue knows nothing of unclaimed jobs and of other attempts",
    store: withQueue((queue) => ({
      async complete(job) {
        const jobs = await queue.claim({ leaseMs: 1e9 });
        await queue.complete(jobs.find(({ id }) => id === job.id) ?? job);
      },
    })),
  },
  {
    fault: "counts a job as claimed whose lease is over",
    check: "queue.count() counts by what becomes of the jobs next",
    store: withQueue((queue) => {
      let claimed = 0;
      return {
        async claim(options) {
          const jobs = await queue.claim(options);
          claimed += jobs.length;
          return jobs;
        },
        async count() {
          const { ready, delayed } = await queue.count();
          return { ready: ready - claimed, delayed, claimed };
        },
      };
    }),
  },
  {
    fault: "has one queue for all names",
    check: "queue() gives queues that share nothing but their name",
    store: (good) => ({ ...good, queue: () => good.queue("jobs") }),
  },
  {
    fault: "takes any lease",
    check: "queue refuses wrong numbers and invalid jobs",
    store: withQueue((queue) => ({ claim: (options) => queue.claim({ ...options, leaseMs: 1 }) })),
  },
  {
    fault: "throws at once for the wrong name of a queue",
    check: "queue refuses wrong names and wrong ids in every method",
    store: (good) => ({
      ...good,
      queue(name) {
        if (name === "") throw new KitbagError("store-key-invalid", { key: name, reason: "it is empty" });
        return good.queue(name);
      },
    }),
  },
  {
    fault: "still counts when it is closed",
    check: "queue rejects in every method once the store is closed",
    store: withQueue(() => ({ count: async () => ({ ready: 0, delayed: 0, claimed: 0 }) })),
  },
];

test.concurrent.for(faults)("storeConformance() notices a store that $fault", async ({ check, store }) => {
  const checks = storeConformance(() => store(memoryStore({ now: clock.now })), { wait: clock.pass });
  const found = checks.find(({ name }) => name === check);

  await expect(found?.run()).rejects.toMatchObject({ name: expect.stringMatching(/^(Assertion|Abort)Error$/) });
});

test("storeConformance() checks only the parts that a store has", async () => {
  const create = (): Pick<Store, "kv" | "close"> => {
    const { kv, close } = memoryStore({ now: clock.now });
    return { kv, close };
  };

  const checks = storeConformance(create, { parts: ["kv"], wait: clock.pass });
  for (const check of checks) await check.run();

  expect(checks.length).toBeGreaterThan(30);
  expect(checks.filter(({ name }) => !/^(kv|close)\b/.test(name))).toEqual([]);
  // @ts-expect-error A store with kv alone cannot be checked as a whole one.
  storeConformance(create);
});

test("storeConformance() gives each check a name of its own", () => {
  const names = storeConformance(memoryStore).map(({ name }) => name);

  expect(new Set(names).size).toBe(names.length);
});

test("storeConformance() makes a store for each check and closes it, also when the check fails", async () => {
  let open = 0;
  const checks = storeConformance(async () => {
    open += 1;
    const store = memoryStore();
    return {
      ...store,
      kv: { ...store.kv, get: async () => ({ value: "wrong", version: 1 }) },
      close: async () => void (open -= 1),
    };
  });

  await expect(checks[0]?.run()).rejects.toBeInstanceOf(AssertionError);

  expect(open).toBe(0);
});

test("storeConformance() really waits unless it is told how to", async () => {
  const check = storeConformance(memoryStore).find(({ name }) => name === "kv.list() leaves out what has expired");
  const before = performance.now();

  await check?.run();

  expect(performance.now() - before).toBeGreaterThanOrEqual(40);
});

function withKv(change: (kv: KeyValueStore) => Partial<KeyValueStore>): (good: Store) => Store {
  return (good) => ({ ...good, kv: { ...good.kv, ...change(good.kv) } });
}

function withLog(change: (log: LogStore) => Partial<LogStore>): (good: Store) => Store {
  return (good) => ({ ...good, log: { ...good.log, ...change(good.log) } });
}

function withQueue(change: (queue: Queue) => Partial<Queue>): (good: Store) => Store {
  return (good) => {
    const byName = new Map<string, Queue>();
    return {
      ...good,
      queue(name) {
        const queue = byName.get(name) ?? { ...good.queue(name), ...change(good.queue(name)) };
        byName.set(name, queue);
        return queue;
      },
    };
  };
}

function withBlobs(change: (blobs: BlobStore) => Partial<BlobStore>): (good: Store) => Store {
  return (good) => ({ ...good, blobs: { ...good.blobs, ...change(good.blobs) } });
}

async function later<Value>(call: () => Promise<Value>): Promise<Value> {
  await new Promise((resolve) => {
    setImmediate(resolve);
  });
  return call();
}

async function readAndAdd(kv: KeyValueStore, key: string, by: number): Promise<number> {
  const sum = (((await kv.get(key))?.value ?? 0) as number) + by;
  await kv.set(key, sum);
  return sum;
}

function sortKeys(value: JsonValue): JsonValue {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).toSorted(([left], [right]) => (left < right ? -1 : 1)));
}

function neverEnding(): AsyncIterator<LogEntry> {
  return { next: () => new Promise(() => undefined) };
}

function createClock() {
  let time = 1_000_000;
  return {
    now: () => time,
    pass(ms: number): void {
      time += ms;
    },
  };
}
