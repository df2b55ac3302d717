import type { KeyValueStore, ListedValue, VersionedValue } from "../../core/store.ts";
import { checkKey } from "../check-key.ts";
import { checkList } from "../check-list.ts";
import { checkWhole } from "../check-whole.ts";
import { checkVersion, checkWrite, toSum, type CheckedWrite } from "../check-write.ts";
import { toKept } from "../kept-value.ts";
import { checkOpen } from "../store-life.ts";
import { createKvRows, type KvRow, type KvRows } from "./kv-rows.ts";
import { parseKept } from "./parse-kept.ts";
import { read, type SqliteParts } from "./sqlite-parts.ts";

/** Makes the `kv` part of an SQLite store. */
export function sqliteKv(parts: SqliteParts): KeyValueStore {
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
