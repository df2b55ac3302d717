import type { Statement } from "./postgres-link.ts";

/** The clock of the server, in milliseconds since 1970. It is the only one that counts: machines differ. */
export const nowMs = "(extract(epoch FROM clock_timestamp()) * 1000)::bigint";

const isAlive = `(expires_at IS NULL OR expires_at > ${nowMs})`;

/** Which names to list, in order. */
export interface KeyRange {
  readonly prefix: string;
  readonly end: string;
  readonly after: string;
  readonly limit: number;
}

/** What `kv` asks of the server. The writes count on their key being locked, so that what they look at stays as it is. */
export interface KvStatements {
  get(key: string): Statement;
  set(key: string, value: string, expiresInMs: number | undefined, ifVersion: number | undefined): Statement;
  delete(key: string, ifVersion: number | undefined): Statement;
  increment(key: string, by: number, expiresInMs: number | undefined): Statement;
  list(range: KeyRange): Statement;
  /** Takes out some of what has expired. */
  sweep(): Statement;
}

/** Makes the statements for the tables of `schema`. */
export function kvStatements(schema: string): KvStatements {
  const old = `old AS (SELECT * FROM ${schema}.kv WHERE key = $1 AND ${isAlive})`;
  const found = "coalesce((SELECT version FROM old), 0)";
  const nextVersion = `nextval('${schema}.kv_version')`;
  const overwrite =
    "ON CONFLICT (key) DO UPDATE SET value = EXCLUDED.value, version = EXCLUDED.version, expires_at = EXCLUDED.expires_at";

  const texts = {
    get: `SELECT value, version FROM ${schema}.kv WHERE key = $1 AND ${isAlive}`,
    set: `WITH ${old}, new AS (
        INSERT INTO ${schema}.kv (key, value, version, expires_at)
        SELECT $1, $2, ${nextVersion}, ${nowMs} + $3::bigint WHERE $4::bigint IS NULL OR $4 = ${found}
        ${overwrite} RETURNING version)
      SELECT (SELECT version FROM new) AS written, ${found} AS found`,
    delete: `WITH ${old}, gone AS (
        DELETE FROM ${schema}.kv WHERE key = $1 AND ($2::bigint IS NULL OR $2 = ${found}))
      SELECT ${found} AS found`,
    // A number that is not safe in JavaScript is left alone, and so is one that would become so.
    increment: `WITH ${old}, start AS (
        SELECT CASE WHEN value ~ '^-?[0-9]{1,16}$' THEN value::numeric END AS value, expires_at FROM old
        UNION ALL SELECT 0, ${nowMs} + $3::bigint WHERE NOT EXISTS (SELECT FROM old)),
      new AS (
        INSERT INTO ${schema}.kv (key, value, version, expires_at)
        SELECT $1, (value + $2::bigint)::text, ${nextVersion}, expires_at FROM start
        WHERE greatest(abs(value), abs(value + $2::bigint)) <= ${Number.MAX_SAFE_INTEGER}
        ${overwrite} RETURNING value)
      SELECT (SELECT value FROM new) AS written, (SELECT value FROM old) AS found`,
    list: `SELECT key, value, version, CASE WHEN expires_at IS NOT NULL THEN greatest(expires_at - ${nowMs}, 1) END AS left_ms FROM ${schema}.kv
      WHERE key >= $1 AND key < $2 AND key > $3 AND ${isAlive} ORDER BY key LIMIT $4`,
    sweep: `DELETE FROM ${schema}.kv WHERE key IN (
      SELECT key FROM ${schema}.kv WHERE expires_at <= ${nowMs} LIMIT 1000 FOR UPDATE SKIP LOCKED) AND expires_at <= ${nowMs}`,
  };

  return {
    get: (key) => ({ name: "get", text: texts.get, values: [key] }),
    set: (key, value, expiresInMs, ifVersion) => ({
      name: "set",
      text: texts.set,
      values: [key, value, expiresInMs, ifVersion],
    }),
    delete: (key, ifVersion) => ({ name: "delete", text: texts.delete, values: [key, ifVersion] }),
    increment: (key, by, expiresInMs) => ({ name: "increment", text: texts.increment, values: [key, by, expiresInMs] }),
    list: ({ prefix, end, after, limit }) => ({ name: "list", text: texts.list, values: [prefix, end, after, limit] }),
    sweep: () => ({ name: "sweep", text: texts.sweep, values: [] }),
  };
}
