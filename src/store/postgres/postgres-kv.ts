import type { JsonValue } from "../../core/json.ts";
import type { KeyValueStore, VersionedValue } from "../../core/store.ts";
import { checkKey } from "../check-key.ts";
import { checkList } from "../check-list.ts";
import { checkWhole } from "../check-whole.ts";
import { checkVersion, checkWrite, toSum } from "../check-write.ts";
import { toKept } from "../kept-value.ts";
import { checkOpen } from "../store-life.ts";
import { kvStatements } from "./kv-statements.ts";
import { createPostgresLane, type Write } from "./postgres-lane.ts";
import type { Row } from "./postgres-link.ts";
import type { PostgresParts } from "./postgres-parts.ts";
import { toPrefixEnd } from "./to-prefix-end.ts";

/** How often a process takes out what has expired. */
const sweepEveryMs = 1000;

/** Makes the `kv` part of a Postgres store. */
export function postgresKv({ life, schema, shown, reader, openLink, onDrain }: PostgresParts): KeyValueStore {
  const sql = kvStatements(schema);
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
  const write = <Answer>(key: string, rest: Omit<Write<Answer>, "lock">): Promise<Answer> =>
    lane.write({ ...rest, lock: `${schema}/kv/${key}` });

  return {
    async get(key) {
      checkKey(key);
      checkOpen(life, "kv.get");
      const [row] = await reader.read(sql.get(key));
      return row && toVersioned(row);
    },
    async set(key, value, options) {
      checkKey(key);
      const { expiresInMs, ifVersion } = checkWrite(options);
      const kept = JSON.stringify(toKept(key, value));
      checkOpen(life, "kv.set");
      return write(key, {
        statement: sql.set(key, kept, expiresInMs, ifVersion),
        read([row]) {
          checkVersion(key, Number(row?.["found"]), ifVersion);
          return Number(row?.["written"]);
        },
      });
    },
    async delete(key, options) {
      checkKey(key);
      const { ifVersion } = checkWrite(options);
      checkOpen(life, "kv.delete");
      return write(key, {
        statement: sql.delete(key, ifVersion),
        read([row]) {
          checkVersion(key, Number(row?.["found"]), ifVersion);
          return Number(row?.["found"]) > 0;
        },
      });
    },
    async list(options) {
      const { prefix, after, limit } = checkList(options);
      checkOpen(life, "kv.list");
      const rows = await reader.read(sql.list({ prefix, end: toPrefixEnd(prefix), after, limit }));
      return rows.map((row) => [String(row["key"]), toVersioned(row)] as const);
    },
    async increment(key, by = 1, options) {
      checkKey(key);
      checkWhole("by", by, Number.MIN_SAFE_INTEGER);
      const { expiresInMs } = checkWrite(options);
      checkOpen(life, "kv.increment");
      return write(key, {
        statement: sql.increment(key, by, expiresInMs),
        read: ([row]) =>
          typeof row?.["written"] === "string" ? Number(row["written"]) : toSum(key, parse(row?.["found"]), by),
      });
    },
  };
}

function toVersioned(row: Row): VersionedValue {
  return { value: parse(row["value"]), version: Number(row["version"]) };
}

function parse(text: unknown): JsonValue {
  return JSON.parse(String(text)) as JsonValue;
}
