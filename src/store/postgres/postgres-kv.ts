import type { JsonValue } from "../../core/json.ts";
import type { KeyValueStore, ListedValue, VersionedValue } from "../../core/store.ts";
import { checkKey } from "../check-key.ts";
import { checkList } from "../check-list.ts";
import { checkWhole } from "../check-whole.ts";
import { checkVersion, checkWrite, toSum } from "../check-write.ts";
import { toKept } from "../kept-value.ts";
import { checkOpen } from "../store-life.ts";
import { kvStatements, type KvStatements } from "./kv-statements.ts";
import { createPostgresLane, type PostgresLane } from "./postgres-lane.ts";
import type { Row, Statement } from "./postgres-link.ts";
import type { PostgresParts } from "./postgres-parts.ts";
import { toPrefixEnd } from "../to-prefix-end.ts";

/** How often a process takes out what has expired. */
const sweepEveryMs = 1000;

/** Makes the `kv` part of a Postgres store. */
export function postgresKv(parts: PostgresParts): KeyValueStore {
  const sql = kvStatements(parts.schema);
  return { ...createReads(parts, sql), ...createWrites(parts, sql) };
}

function createReads({ life, reader }: PostgresParts, sql: KvStatements): Pick<KeyValueStore, "get" | "list"> {
  return {
    async get(key) {
      checkKey(key);
      checkOpen(life, "kv.get");
      const [row] = await reader.read(sql.get(key));
      return row && toVersioned(row);
    },
    async list(options) {
      const { prefix, after, limit } = checkList(options);
      checkOpen(life, "kv.list");
      const rows = await reader.read(sql.list({ prefix, end: toPrefixEnd(prefix), after, limit }));
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
      return write(key, sql.set(key, kept, expiresInMs, ifVersion), ({ found, written }) => {
        checkVersion(key, Number(found), ifVersion);
        return Number(written);
      });
    },
    async delete(key, options) {
      checkKey(key);
      const { ifVersion } = checkWrite(options);
      checkOpen(life, "kv.delete");
      return write(key, sql.delete(key, ifVersion), ({ found }) => {
        checkVersion(key, Number(found), ifVersion);
        return Number(found) > 0;
      });
    },
    async increment(key, by = 1, options) {
      checkKey(key);
      checkWhole("by", by, Number.MIN_SAFE_INTEGER);
      const { expiresInMs } = checkWrite(options);
      checkOpen(life, "kv.increment");
      return write(key, sql.increment(key, by, expiresInMs), ({ found, written }) =>
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
      return [sql.sweep()];
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
