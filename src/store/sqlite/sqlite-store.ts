import { resolve } from "node:path";

import { KitbagError } from "../../core/errors.ts";
import { showValue } from "../../core/json.ts";
import type { Job, KeyValueStore, ListedValue, Queue, Store, VersionedValue } from "../../core/store.ts";
import {
  checkAdd,
  checkClaim,
  type CheckedWrite,
  checkJob,
  checkKey,
  checkList,
  checkVersion,
  checkWhole,
  checkWrite,
  toSum,
} from "../checks.ts";
import { toKept } from "../kept-value.ts";
import { checkOpen, createStoreLife } from "../store-life.ts";
import { createJobRows, type JobRows } from "./job-rows.ts";
import { createKvRows, type KvRow, type KvRows } from "./kv-rows.ts";
import { openDatabase } from "./open-database.ts";
import { sqliteBlobs } from "./sqlite-blobs.ts";
import { parseKept } from "./sqlite-errors.ts";
import { sqliteLog } from "./sqlite-log.ts";
import { createNameIds, type NameIds, read, type SqliteParts } from "./sqlite-parts.ts";
import { createSqliteWriter } from "./sqlite-writer.ts";

/** What {@link sqliteStore} takes. */
export interface SqliteStoreOptions {
  /** Where it is kept; made if it is not there, with its folder. Beside it SQLite keeps `-wal` and `-shm`. */
  readonly file: string;
  /** The clock, in milliseconds since 1970. @default Date.now */
  readonly now?: () => number;
}

/**
 * Opens a store that is kept in one file, which several processes may open at the same time. Whatever was acknowledged is on disk,
 * except writes that are explicitly not `durable`. Writes of one tick of the event loop are committed together, so that many cost
 * little more than one.
 *
 * @throws {KitbagError} `option-invalid`; `store-newer` if a newer version of Kitbag has made it; `store-unavailable`
 *
 * @example
 * ```ts
 * import { mkdtempSync } from "node:fs";
 * import { tmpdir } from "node:os";
 * import { join } from "node:path";
 * import { sqliteStore } from "kitbag/store";
 *
 * const file = join(mkdtempSync(join(tmpdir(), "kitbag-")), "kitbag.db");
 * const store = await sqliteStore({ file });
 * await store.log.append("run:1", [{ type: "run-start" }]);
 * await store.close();
 *
 * const again = await sqliteStore({ file });
 * console.assert((await again.log.position("run:1")) === 1);
 * await again.close();
 * ```
 */
export async function sqliteStore({ file, now = Date.now }: SqliteStoreOptions): Promise<Store> {
  if (typeof file !== "string" || file === "" || file.includes("\0")) {
    throw new KitbagError("option-invalid", { option: "file", found: showValue(file), expected: "the path of a file" });
  }
  if (typeof now !== "function") {
    throw new KitbagError("option-invalid", { option: "now", found: showValue(now), expected: "a function" });
  }
  const database = await openDatabase(resolve(file));
  return toStore({ life: createStoreLife(now), database, writer: createSqliteWriter(database) });
}

function toStore(parts: SqliteParts): Store {
  const { life, database, writer } = parts;
  const { blobs, clean, abandonAll } = sqliteBlobs(parts);
  // What a process that was killed has left takes only space.
  clean().catch(() => undefined);
  let closed: Promise<void> | undefined;

  async function close(): Promise<void> {
    abandonAll();
    life.close();
    while (writer.whenWritten()) await writer.whenWritten();
    database.close();
  }

  const kv = sqliteKv(parts);
  return {
    kv,
    log: sqliteLog(parts),
    blobs,
    queue: sqliteQueues(parts),
    close: () => (closed ??= close()),
  };
}

interface QueuePlace {
  readonly parts: SqliteParts;
  readonly ids: NameIds;
  readonly rows: JobRows;
}

/** Makes the queues of an SQLite store. */
function sqliteQueues(parts: SqliteParts): (name: string) => Queue {
  const place = { parts, ids: createNameIds(parts.database, "queues"), rows: createJobRows(parts) };
  return (name) => sqliteQueue(place, name);
}

function sqliteQueue({ parts, ids, rows }: QueuePlace, name: string): Queue {
  const { life, writer } = parts;
  const scope = `queue:${String(name)}`;

  function check(operation: string): void {
    checkKey(name);
    checkOpen(life, operation);
  }

  /** Looking costs less than writing, and most who look find nothing. */
  async function isEmpty(): Promise<boolean> {
    if (writer.whenWritten(scope)) return false;
    return read(parts, "queue.claim", () => !rows.hasReady(ids.find(name)), scope);
  }

  /** Changes a job if it is still the one that was claimed. */
  async function change(operation: string, given: Job, make: (queue: number, id: string) => void): Promise<void> {
    const { id, attempt } = checkJob(given);
    check(operation);
    await writer.write(scope, () => {
      const queue = ids.find(name);
      if (queue !== undefined && rows.isClaimed(queue, id, attempt)) return make(queue, id);
      throw new KitbagError("job-lost", { queue: name, job: id, attempt });
    });
  }

  return {
    async add(id, options) {
      const checked = checkAdd(id, options);
      check("queue.add");
      return writer.write(scope, () => rows.add(ids.make(name), id, checked));
    },
    async claim(options) {
      const { leaseMs, limit } = checkClaim(options);
      check("queue.claim");
      if (await isEmpty()) return [];
      return writer.write(scope, () => rows.claim(ids.make(name), leaseMs, limit));
    },
    async extend(given, leaseMs) {
      checkWhole("leaseMs", leaseMs, 1);
      await change("queue.extend", given, (queue, id) => rows.wait(queue, id, { ms: leaseMs, isClaimed: true }));
    },
    complete: (given) => change("queue.complete", given, rows.remove),
    async release(given, options) {
      const { delayMs } = checkAdd(checkJob(given).id, options);
      await change("queue.release", given, (queue, id) => rows.wait(queue, id, { ms: delayMs, isClaimed: false }));
    },
    async count() {
      check("queue.count");
      const isDue = await read(parts, "queue.count", () => rows.hasDue(ids.find(name)), scope);
      if (isDue) await writer.write(scope, () => rows.wake(ids.find(name))).catch(() => undefined);
      return read(parts, "queue.count", () => rows.count(ids.find(name)), scope);
    },
  };
}

/** Makes the `kv` part of an SQLite store. */
function sqliteKv(parts: SqliteParts): KeyValueStore {
  const { life, writer } = parts;
  const rows = createKvRows(parts);
  const changes = createKvChanges(rows);

  return {
    async get(key) {
      checkKey(key);
      checkOpen(life, "kv.get");
      const find = (): VersionedValue | "expired" | undefined => {
        const row = rows.find(key);
        if (row) return rows.isExpired(row) ? "expired" : toVersioned(row);
      };
      const found = await read(parts, "kv.get", find, scopeOf(key));
      if (found !== "expired") return found;
      await expire(parts, scopeOf(key), () => rows.take(key));
    },
    async set(key, value, options) {
      checkKey(key);
      const checked = checkWrite(options);
      const kept = JSON.stringify(toKept(key, value));
      checkOpen(life, "kv.set");
      const about = { bytes: kept.length, isDurable: checked.durable };
      return writer.write(scopeOf(key), () => changes.set(key, kept, checked), about);
    },
    async delete(key, options) {
      checkKey(key);
      const { ifVersion, durable: isDurable } = checkWrite(options);
      checkOpen(life, "kv.delete");
      return writer.write(scopeOf(key), () => changes.delete(key, ifVersion), { isDurable });
    },
    async list(options) {
      const { prefix, after, limit } = checkList(options);
      checkOpen(life, "kv.list");
      const hasExpired = await read(parts, "kv.list", rows.hasExpired);
      if (hasExpired) await expire(parts, "kv", () => rows.sweep());
      return read(parts, "kv.list", () => rows.list(prefix, after, limit).map((row) => toListed(row, life.now())));
    },
    async increment(key, by = 1, options) {
      checkKey(key);
      checkWhole("by", by, Number.MIN_SAFE_INTEGER);
      const { expiresInMs, durable: isDurable } = checkWrite(options);
      checkOpen(life, "kv.increment");
      return writer.write(scopeOf(key), () => changes.increment(key, by, expiresInMs), { isDurable });
    },
  };
}

/** The writes. They run inside of a transaction. */
function createKvChanges(rows: KvRows) {
  return {
    set(key: string, kept: string, { ifVersion, expiresInMs }: CheckedWrite): number {
      checkVersion(key, rows.take(key)?.version ?? 0, ifVersion);
      return rows.put(key, kept, rows.toExpiry(expiresInMs));
    },
    delete(key: string, ifVersion: number | undefined): boolean {
      const row = rows.take(key);
      checkVersion(key, row?.version ?? 0, ifVersion);
      if (row) rows.remove(key);
      return row !== undefined;
    },
    increment(key: string, by: number, expiresInMs: number | undefined): number {
      const row = rows.take(key);
      const sum = toSum(key, row ? parseKept(row.value) : 0, by);
      rows.put(key, String(sum), row ? row.expires_at : rows.toExpiry(expiresInMs));
      return sum;
    },
  };
}

/**
 * Removes what was seen to be gone, at once: a clock that goes back must not bring it back. If that fails, the reader still gets
 * what it asked for.
 */
async function expire({ writer }: SqliteParts, scope: string, run: () => unknown): Promise<void> {
  await writer.write(scope, run).catch(() => undefined);
}

function scopeOf(key: string): string {
  return `kv:${key}`;
}

function toVersioned({ value, version }: KvRow): VersionedValue {
  return { value: parseKept(value), version };
}

function toListed(row: KvRow, now: number): readonly [string, ListedValue] {
  const time = row.expires_at === null ? {} : { expiresInMs: Math.max(row.expires_at - now, 1) };
  return [row.key, { ...toVersioned(row), ...time }];
}
