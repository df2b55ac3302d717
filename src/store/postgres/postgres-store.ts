import type * as Postgres from "pg";

import { KitbagError } from "../../core/errors.ts";
import { type JsonValue, showValue } from "../../core/json.ts";
import type { KeyValueStore, ListedValue, Store, VersionedValue } from "../../core/store.ts";
import { checkKey, checkList, checkVersion, checkWhole, checkWrite, toSum } from "../checks.ts";
import { toKept } from "../kept-value.ts";
import { loadPackage } from "../../platform/load-package.ts";
import { choosePlace, parseServerAddress } from "../server-connection.ts";
import { toPrefixEnd } from "../sorted-keys.ts";
import { checkOpen, createStoreLife } from "../store-life.ts";
import { postgresBlobs } from "./postgres-blobs.ts";
import { createPostgresLane, type PostgresLane } from "./postgres-lane.ts";
import { createPostgresLink, type LinkOptions, type PostgresLink, type Row, type Statement } from "./postgres-link.ts";
import { postgresLog } from "./postgres-log.ts";
import { postgresQueues } from "./postgres-queue.ts";
import { createPostgresReader, type PostgresParts } from "./postgres-reader.ts";
import { kvStatements, type KvStatements, migratePostgres } from "./postgres-schema.ts";

/** What {@link postgresStore} takes. */
export interface PostgresStoreOptions {
  /** `postgresql://user:password@host:port/database`, with `?schema=name` if it is not said with `schema` */
  readonly url: string;
  /** Where the tables are; one database can hold several stores. Small letters, digits and `_`. @default "kitbag" */
  readonly schema?: string;
  /**
   * How long the server may say nothing while it is expected to, in milliseconds. A large value may take longer, as long as bytes
   * come and go. @default 1500
   */
  readonly timeoutMs?: number;
}

/**
 * Opens a store in a Postgres database, for several machines; makes its tables, or brings them up to date. Needs the package
 * `pg`, and a database with the encoding UTF8. A process uses up to seven connections.
 *
 * Time is the server's: what expires, and when, does not depend on the clocks of the machines. Writes that are called together
 * share a transaction. When the server is away, calls reject within two seconds; when it is back they work again, and tails go on
 * where they were.
 *
 * @throws {KitbagError} (rejects) `option-invalid`; `package-missing` without `pg`; `store-newer` if the tables were made by a
 * newer version; `store-unavailable` if the database cannot be used now.
 *
 * @example
 * ```ts no-run
 * import { postgresStore } from "kitbag/store";
 *
 * const store = await postgresStore({ url: process.env["DATABASE_URL"] ?? "postgresql://localhost/kitbag" });
 * await store.log.append("run:42", [{ type: "start" }], { expectedPosition: 0 });
 * console.assert((await store.log.position("run:42")) === 1);
 * await store.close();
 * ```
 */
export async function postgresStore(options: PostgresStoreOptions): Promise<Store> {
  const { schema, timeoutMs, address } = checkOptions(options);
  const { Client } = await loadPackage<typeof Postgres>("pg", "postgresStore");
  const linkOptions: LinkOptions = {
    timeoutMs,
    createClient: (config) => new Client({ ...config, connectionString: address.url }),
  };
  const { shown } = address;
  const first = createPostgresLink(linkOptions);
  try {
    await migratePostgres({ link: first, schema, shown });
  } catch (cause) {
    await first.close();
    throw cause;
  }
  return createStore({ linkOptions, schema, shown }, first);
}

function createStore(
  { linkOptions, schema, shown }: Pick<PostgresParts, "linkOptions" | "schema" | "shown">,
  first: PostgresLink,
): Store {
  const life = createStoreLife(Date.now);
  const links: PostgresLink[] = [];
  const drains: (() => Promise<void>)[] = [];
  const openLink = (): PostgresLink => {
    const link = createPostgresLink(linkOptions);
    links.push(link);
    return link;
  };
  const reader = createPostgresReader([first, openLink(), openLink()], shown);
  const parts: PostgresParts = {
    life,
    schema,
    shown,
    reader,
    linkOptions,
    openLink,
    onDrain: (drain) => void drains.push(drain),
  };

  return {
    kv: postgresKv(parts),
    log: postgresLog(parts),
    blobs: postgresBlobs(parts),
    queue: postgresQueues(parts),
    async close() {
      life.close();
      await Promise.all(drains.map((drain) => drain()));
      await Promise.all([first, ...links].map((link) => link.close()));
    },
  };
}

function checkOptions({ url, timeoutMs = 1500, ...options }: PostgresStoreOptions) {
  const address = parseServerAddress(url, ["postgresql:", "postgres:"], "schema");
  const schema = choosePlace("schema", { option: options.schema, address, usual: "kitbag" });
  checkWhole("timeoutMs", timeoutMs, 1);
  if (typeof schema !== "string" || !/^[a-z_][a-z0-9_]{0,40}$/u.test(schema)) {
    throw new KitbagError("option-invalid", {
      option: "schema",
      found: showValue(schema),
      expected: "up to 41 small letters, digits and _, not beginning with a digit",
    });
  }
  return { address, timeoutMs, schema: `"${schema}"` };
}

/** How often a process takes out what has expired. */
const sweepEveryMs = 1000;

/** Makes the `kv` part of a Postgres store. */
function postgresKv(parts: PostgresParts): KeyValueStore {
  const sql = kvStatements(parts.schema);
  return { ...createReads(parts, sql), ...createWrites(parts, sql) };
}

function createReads({ life, reader }: PostgresParts, sql: KvStatements): Pick<KeyValueStore, "get" | "list"> {
  return {
    async get(key) {
      checkKey(key);
      checkOpen(life, "kv.get");
      const [row] = await reader.read(sql("get", key));
      return row && toVersioned(row);
    },
    async list(options) {
      const { prefix, after, limit } = checkList(options);
      checkOpen(life, "kv.list");
      const rows = await reader.read(sql("list", prefix, toPrefixEnd(prefix), after, limit));
      return rows.map(toListed);
    },
  };
}

function createWrites(parts: PostgresParts, sql: KvStatements): Omit<KeyValueStore, "get" | "list"> {
  const { life, schema } = parts;
  const lane = openLane(parts, sql);
  const write = <Answer>(key: string, statement: Statement, read: (row: Row) => Answer): Promise<Answer> =>
    lane.write({ statement, lock: `${schema}/kv/${key}`, read: ([row = {}]) => read(row) });

  return {
    async set(key, value, options) {
      checkKey(key);
      const { expiresInMs, ifVersion } = checkWrite(options);
      const kept = JSON.stringify(toKept(key, value));
      checkOpen(life, "kv.set");
      return write(key, sql("set", key, kept, expiresInMs, ifVersion), ({ found, written }) => {
        checkVersion(key, Number(found), ifVersion);
        return Number(written);
      });
    },
    async delete(key, options) {
      checkKey(key);
      const { ifVersion } = checkWrite(options);
      checkOpen(life, "kv.delete");
      return write(key, sql("delete", key, ifVersion), ({ found }) => {
        checkVersion(key, Number(found), ifVersion);
        return Number(found) > 0;
      });
    },
    async increment(key, by = 1, options) {
      checkKey(key);
      checkWhole("by", by, Number.MIN_SAFE_INTEGER);
      const { expiresInMs } = checkWrite(options);
      checkOpen(life, "kv.increment");
      return write(key, sql("increment", key, by, expiresInMs), ({ found, written }) =>
        typeof written === "string" ? Number(written) : toSum(key, parse(found), by),
      );
    },
  };
}

/** Opens the lane for writes; now and then they take out what has expired. */
function openLane({ openLink, shown, onDrain }: PostgresParts, sql: KvStatements): PostgresLane {
  let sweptAt = -Infinity;
  const lane = createPostgresLane({
    link: openLink(),
    shown,
    finish() {
      if (performance.now() - sweptAt < sweepEveryMs) return [];
      sweptAt = performance.now();
      return [sql("sweep")];
    },
  });
  onDrain(lane.drain);
  return lane;
}

function toVersioned(row: Row): VersionedValue {
  return { value: parse(row["value"]), version: Number(row["version"]) };
}

function toListed(row: Row): readonly [string, ListedValue] {
  const time = row["left_ms"] === null ? {} : { expiresInMs: Number(row["left_ms"]) };
  return [String(row["key"]), { ...toVersioned(row), ...time }];
}

function parse(text: unknown): JsonValue {
  return JSON.parse(String(text)) as JsonValue;
}
