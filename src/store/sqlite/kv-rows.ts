import { toPrefixEnd } from "../sorted-keys.ts";
import type { SqliteParts } from "./sqlite-parts.ts";

/** A value as it is in the table. */
export interface KvRow {
  readonly key: string;
  readonly value: string;
  readonly version: number;
  readonly expires_at: number | null;
}

/** How many values that have expired go with each write: more than one, so that they cannot pile up. */
const sweptPerWrite = 2;

/** How many expired keys one `list` removes: lists are rare, and must not take long. */
const sweptPerList = 10_000;

/** What is done with the table of values. `take`, `put`, `remove` and `sweep` run inside of a write. */
export interface KvRows {
  find(key: string): KvRow | undefined;
  isExpired(row: KvRow): boolean;
  toExpiry(expiresInMs: number | undefined): number | null;
  /** Finds a value to change it; one that has expired goes. */
  take(key: string): KvRow | undefined;
  /** Answers with the new version. */
  put(key: string, value: string, expiresAt: number | null): number;
  remove(key: string): void;
  hasExpired(): boolean;
  /** Removes values that have expired. */
  sweep(limit?: number): void;
  list(prefix: string, after: string, limit: number): readonly KvRow[];
}

/** Makes the access to the table of values. */
export function createKvRows({ life, database: { sql }, writer }: SqliteParts): KvRows {
  const isExpired = ({ expires_at: expiresAt }: KvRow): boolean => expiresAt !== null && expiresAt <= life.now();
  const find = (key: string): KvRow | undefined =>
    sql("SELECT key, value, version, expires_at FROM kv WHERE key = ?").get(key) as KvRow | undefined;
  const remove = (key: string): void => void sql("DELETE FROM kv WHERE key = ?").run(key);

  function sweep(limit = sweptPerList): void {
    const some = "SELECT rowid FROM kv WHERE expires_at <= ? ORDER BY expires_at LIMIT ?";
    sql(`DELETE FROM kv WHERE rowid IN (${some})`).run(life.now(), limit);
  }

  const hasExpired = (): boolean => sql("SELECT 1 FROM kv WHERE expires_at <= ? LIMIT 1").get(life.now()) !== undefined;

  return {
    find,
    remove,
    sweep,
    hasExpired,
    isExpired,
    toExpiry(expiresInMs) {
      return expiresInMs === undefined ? null : Math.min(life.now() + expiresInMs, Number.MAX_SAFE_INTEGER);
    },
    take(key) {
      const row = find(key);
      if (!row || !isExpired(row)) return row;
      remove(key);
      return undefined;
    },
    put(key, value, expiresAt) {
      const version = writer.nextNumber();
      sql(
        `INSERT INTO kv (key, value, version, expires_at) VALUES (?, ?, ?, ?) ON CONFLICT (key) DO UPDATE
         SET value = excluded.value, version = excluded.version, expires_at = excluded.expires_at`,
      ).run(key, value, version, expiresAt);
      // To look costs next to nothing; to remove nothing costs as much as a write.
      if (expiresAt !== null && hasExpired()) sweep(sweptPerWrite);
      return version;
    },
    list(prefix, after, limit) {
      return sql(
        `SELECT key, value, version, expires_at FROM kv
         WHERE key >= ? AND key < ? AND key > ? AND (expires_at IS NULL OR expires_at > ?) ORDER BY key LIMIT ?`,
      ).all(prefix, toPrefixEnd(prefix), after, life.now(), limit) as unknown as KvRow[];
    },
  };
}
