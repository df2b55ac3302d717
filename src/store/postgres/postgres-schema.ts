import { KitbagError } from "../../core/errors.ts";
import {
  createStatements,
  type PostgresLink,
  type Row,
  type Statements,
  type Statement,
  toUnavailable,
} from "./postgres-link.ts";

/** What takes a schema from one version to the next, in order. What was released is never changed: more is added at the end. */
const migrations: readonly (readonly string[])[] = [
  [
    `CREATE SEQUENCE kv_version`,
    `CREATE TABLE kv (
      key text COLLATE "C" PRIMARY KEY, value text NOT NULL, version bigint NOT NULL, expires_at bigint)`,
    `CREATE INDEX kv_expiry ON kv (expires_at) WHERE expires_at IS NOT NULL`,
    `CREATE TABLE streams (
      id bigint GENERATED ALWAYS AS IDENTITY UNIQUE, name text COLLATE "C" PRIMARY KEY, position bigint NOT NULL)`,
    `CREATE TABLE entries (
      stream bigint NOT NULL, position bigint NOT NULL, time bigint NOT NULL, value text NOT NULL,
      PRIMARY KEY (stream, position))`,
    `CREATE SEQUENCE blob_content`,
    `CREATE TABLE blobs (
      digest text COLLATE "C" PRIMARY KEY, content bigint NOT NULL UNIQUE, size bigint NOT NULL, put_at bigint NOT NULL)`,
    `CREATE TABLE blob_uploads (content bigint PRIMARY KEY, started_at bigint NOT NULL)`,
    `CREATE TABLE blob_pieces (
      content bigint NOT NULL, number integer NOT NULL, bytes bytea NOT NULL, PRIMARY KEY (content, number))`,
    // What is in pieces is often compressed already, and a part of one is read without the rest.
    `ALTER TABLE blob_pieces ALTER COLUMN bytes SET STORAGE EXTERNAL`,
    `CREATE SEQUENCE job_order`,
    `CREATE TABLE jobs (
      queue text COLLATE "C" NOT NULL, id text COLLATE "C" NOT NULL, priority integer NOT NULL, ready_at bigint NOT NULL,
      place bigint NOT NULL, attempt bigint NOT NULL, claimed boolean NOT NULL, PRIMARY KEY (queue, id))`,
    `CREATE INDEX jobs_next ON jobs (queue, priority DESC, ready_at, place)`,
  ],
];

/** What {@link migratePostgres} needs. */
export interface MigrationOptions {
  readonly link: PostgresLink;
  readonly schema: string;
  /** The name of the store, for messages. */
  readonly shown: string;
}

/**
 * Brings the schema up to date, all or nothing; others that open it at the same time wait.
 *
 * @throws {KitbagError} `store-newer` if it was made by a newer version, `store-unavailable`.
 */
export async function migratePostgres({ link, schema, shown }: MigrationOptions): Promise<void> {
  const ask = async (statements: readonly Statement[]): Promise<readonly (readonly Row[])[]> => {
    const answers = await link.send(statements);
    if (!answers.ok) throw toUnavailable(shown, answers.cause, answers.unanswered);
    return answers.rows;
  };

  const [encodings = [], schemas = []] = await ask([
    plain("SELECT current_setting('server_encoding') AS encoding"),
    plain("SELECT to_regclass($1) IS NOT NULL AS there", [`${schema}.schema_version`]),
  ]);
  checkEncoding(shown, encodings[0]);
  if (schemas[0]?.["there"] === true) {
    const [versions = []] = await ask([plain(`SELECT version FROM ${schema}.schema_version`)]);
    if (toVersion(shown, versions[0]) === migrations.length) return;
  }
  try {
    const rows = await ask([
      plain("BEGIN"),
      plain("SET LOCAL lock_timeout = 0"),
      plain("SELECT pg_advisory_xact_lock(hashtextextended($1, 0))", [`${schema}/schema`]),
      plain(`CREATE SCHEMA IF NOT EXISTS ${schema}`),
      plain(`SET LOCAL search_path = ${schema}`),
      plain("CREATE TABLE IF NOT EXISTS schema_version (version integer NOT NULL)"),
      plain("SELECT version FROM schema_version"),
    ]);
    const version = toVersion(shown, rows.at(-1)?.[0]);
    await ask(
      migrations
        .slice(version)
        .flat()
        .map((text) => plain(text)),
    );
    await ask([
      plain("DELETE FROM schema_version"),
      plain(`INSERT INTO schema_version VALUES (${migrations.length})`),
      plain("COMMIT"),
    ]);
  } catch (cause) {
    await link.send([plain("ROLLBACK")]);
    throw cause;
  }
}

/** Reads the version of a schema, and refuses one that this program does not know. */
function toVersion(shown: string, row: Row | undefined): number {
  const version = Number(row?.["version"] ?? 0);
  if (version <= migrations.length) return version;
  throw new KitbagError("store-newer", { store: shown, version, newest: migrations.length });
}

function checkEncoding(shown: string, row: Row | undefined): void {
  const encoding = String(row?.["encoding"]);
  if (encoding === "UTF8") return;
  throw new KitbagError("store-unavailable", {
    store: shown,
    reason: `the database keeps texts as ${encoding}`,
    cure: "use a database that was created with the encoding UTF8",
    mayBeWritten: false,
  });
}

/** A statement that is used once; one without a name is not kept by the server. */
function plain(text: string, values: readonly unknown[] = []): Statement {
  return { name: "", text, values };
}

/** The clock of the server, in milliseconds since 1970. It is the only one that counts: machines differ. */
export const nowMs = "(extract(epoch FROM clock_timestamp()) * 1000)::bigint";

const isAlive = `(expires_at IS NULL OR expires_at > ${nowMs})`;

/** Makes the statements of `kv`. The writes count on their key being locked, so that what they look at stays as it is. */
export function kvStatements(schema: string): KvStatements {
  const old = `old AS (SELECT * FROM ${schema}.kv WHERE key = $1 AND ${isAlive})`;
  const found = "coalesce((SELECT version FROM old), 0)";
  const nextVersion = `nextval('${schema}.kv_version')`;
  const overwrite =
    "ON CONFLICT (key) DO UPDATE SET value = EXCLUDED.value, version = EXCLUDED.version, expires_at = EXCLUDED.expires_at";

  return createStatements("kv", {
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
  });
}

/** What `kv` asks of the server. */
export type KvStatements = Statements<"get" | "set" | "delete" | "increment" | "list" | "sweep">;
