import type { JsonValue } from "../../core/json.ts";
import type { KeyValueStore, VersionedValue } from "../../core/store.ts";
import { checkKey } from "../check-key.ts";
import { checkList } from "../check-list.ts";
import { checkWhole } from "../check-whole.ts";
import { checkVersion, checkWrite, toSum } from "../check-write.ts";
import { toKept } from "../kept-value.ts";
import { checkOpen, type StoreLife } from "../store-life.ts";
import { toPrefixEnd } from "./name-range.ts";
import { read, type SqliteParts } from "./sqlite-parts.ts";

interface Row {
  readonly key: string;
  readonly value: string;
  readonly version: number;
  readonly expires_at: number | null;
}

/** How many values that have expired go with each write: more than one, so that they cannot pile up. */
const sweptPerWrite = 2;

/** How many go when somebody lists: seldom, and it must not take long. */
const sweptPerList = 10_000;

/** Makes the `kv` part of an SQLite store. */
export function sqliteKv(parts: SqliteParts): KeyValueStore {
  const { life, writer } = parts;
  const rows = createRows(parts);

  return {
    async get(key) {
      checkKey(key);
      checkOpen(life, "kv.get");
      const row = await read(parts, "kv.get", () => rows.find(key), scopeOf(key));
      if (!row || !isExpired(row, life)) return row && toVersioned(row);
      // Removed at once: a clock that goes back must not bring back what was seen to be gone. A failure changes nothing for now.
      await writer.write(scopeOf(key), () => rows.take(key)).catch(() => undefined);
      return undefined;
    },
    async set(key, value, options) {
      checkKey(key);
      const { expiresInMs, ifVersion } = checkWrite(options);
      const kept = JSON.stringify(toKept(key, value));
      checkOpen(life, "kv.set");
      const run = (): number => {
        checkVersion(key, rows.take(key)?.version ?? 0, ifVersion);
        return rows.put(key, kept, toExpiry(life, expiresInMs));
      };
      return writer.write(scopeOf(key), run, kept.length);
    },
    async delete(key, options) {
      checkKey(key);
      const { ifVersion } = checkWrite(options);
      checkOpen(life, "kv.delete");
      return writer.write(scopeOf(key), () => {
        const row = rows.take(key);
        checkVersion(key, row?.version ?? 0, ifVersion);
        if (row) rows.remove(key);
        return row !== undefined;
      });
    },
    async list(options) {
      const { prefix, after, limit } = checkList(options);
      checkOpen(life, "kv.list");
      const hasExpired = await read(parts, "kv.list", rows.hasExpired);
      if (hasExpired) await writer.write("kv", () => rows.sweep(sweptPerList)).catch(() => undefined);
      const found = await read(parts, "kv.list", () => rows.list(prefix, after, limit));
      return found.map((row) => [row.key, toVersioned(row)] as const);
    },
    async increment(key, by = 1, options) {
      checkKey(key);
      checkWhole("by", by, Number.MIN_SAFE_INTEGER);
      const { expiresInMs } = checkWrite(options);
      checkOpen(life, "kv.increment");
      return writer.write(scopeOf(key), () => {
        const row = rows.take(key);
        const sum = toSum(key, row ? toValue(row) : 0, by);
        rows.put(key, String(sum), row ? row.expires_at : toExpiry(life, expiresInMs));
        return sum;
      });
    },
  };
}

/** What is done with the table. All but `find`, `hasExpired` and `list` run inside of a write. */
function createRows({ life, database: { sql }, writer }: SqliteParts) {
  const find = (key: string): Row | undefined =>
    sql("SELECT key, value, version, expires_at FROM kv WHERE key = ?").get(key) as Row | undefined;
  const remove = (key: string): void => void sql("DELETE FROM kv WHERE key = ?").run(key);
  const sweep = (limit: number): void =>
    void sql(
      "DELETE FROM kv WHERE rowid IN (SELECT rowid FROM kv WHERE expires_at <= ? ORDER BY expires_at LIMIT ?)",
    ).run(life.now(), limit);

  return {
    find,
    remove,
    sweep,
    /** Finds a value to change it; one that has expired goes. */
    take(key: string): Row | undefined {
      const row = find(key);
      if (!row || !isExpired(row, life)) return row;
      remove(key);
      return undefined;
    },
    put(key: string, value: string, expiresAt: number | null): number {
      const version = writer.nextNumber();
      sql(
        `INSERT INTO kv (key, value, version, expires_at) VALUES (?, ?, ?, ?) ON CONFLICT (key) DO UPDATE
         SET value = excluded.value, version = excluded.version, expires_at = excluded.expires_at`,
      ).run(key, value, version, expiresAt);
      if (expiresAt !== null) sweep(sweptPerWrite);
      return version;
    },
    hasExpired: () => sql("SELECT 1 FROM kv WHERE expires_at <= ? LIMIT 1").get(life.now()) !== undefined,
    list(prefix: string, after: string, limit: number): Row[] {
      return sql(
        `SELECT key, value, version, expires_at FROM kv
         WHERE key >= ? AND key < ? AND key > ? AND (expires_at IS NULL OR expires_at > ?) ORDER BY key LIMIT ?`,
      ).all(prefix, toPrefixEnd(prefix), after, life.now(), limit) as unknown as Row[];
    },
  };
}

function scopeOf(key: string): string {
  return `kv:${key}`;
}

function toVersioned(row: Row): VersionedValue {
  return { value: toValue(row), version: row.version };
}

function toValue({ value }: Row): JsonValue {
  return JSON.parse(value) as JsonValue;
}

function isExpired({ expires_at: expiresAt }: Row, life: StoreLife): boolean {
  return expiresAt !== null && expiresAt <= life.now();
}

function toExpiry(life: StoreLife, expiresInMs: number | undefined): number | null {
  return expiresInMs === undefined ? null : Math.min(life.now() + expiresInMs, Number.MAX_SAFE_INTEGER);
}
