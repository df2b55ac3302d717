import type { JsonValue } from "../../core/json.ts";
import type { LogEntry, LogStore } from "../../core/store.ts";
import { checkAppend, checkKey, checkList, checkPosition, checkWhole, toKeptTexts } from "../checks.ts";
import { toPrefixEnd } from "../sorted-keys.ts";
import { checkOpen } from "../store-life.ts";
import { createRemoteTail } from "../tail.ts";
import { createPostgresNotices, type PostgresNotices } from "./create-postgres-notices.ts";
import { createPostgresLane } from "./postgres-lane.ts";
import { createStatements, type Row } from "./postgres-link.ts";
import type { PostgresParts } from "./postgres-reader.ts";
import { nowMs } from "./postgres-schema.ts";

/** Makes the `log` part of a Postgres store. */
export function postgresLog(parts: PostgresParts): LogStore {
  const { life, reader } = parts;
  const sql = logStatements(parts.schema);
  const notices = createPostgresNotices(parts);
  const read = async (stream: string, after: number, limit: number): Promise<LogEntry[]> =>
    (await reader.read(sql("read", stream, after, limit))).map(toEntry);

  return {
    append: createAppend(parts, sql, notices),
    async read(stream, options) {
      const { after = 0, limit = 1000 } = options ?? {};
      checkKey(stream);
      checkWhole("after", after);
      checkWhole("limit", limit);
      checkOpen(life, "log.read");
      return read(stream, after, limit);
    },
    tail(stream, options) {
      const { after = 0, signal } = options ?? {};
      const source = { life, stream, after, read, follow: notices.follow };
      return { [Symbol.asyncIterator]: () => createRemoteTail(source, signal) };
    },
    async position(stream) {
      checkKey(stream);
      checkOpen(life, "log.position");
      const [row] = await reader.read(sql("position", stream));
      return Number(row?.["position"] ?? 0);
    },
    async streams(options) {
      const { prefix, after, limit } = checkList(options);
      checkOpen(life, "log.streams");
      const rows = await reader.read(sql("streams", prefix, toPrefixEnd(prefix), after, limit));
      return rows.map((row) => String(row["name"]));
    },
  };
}

function createAppend(
  { life, schema, shown, openLink, onDrain }: PostgresParts,
  sql: ReturnType<typeof logStatements>,
  notices: PostgresNotices,
): LogStore["append"] {
  const lane = createPostgresLane({
    link: openLink(),
    shown,
    finish: (writes) => notices.toStatements(writes.flatMap(({ stream }) => stream ?? [])),
  });
  onDrain(lane.drain);

  return async (stream, values, options) => {
    const { expectedPosition, time } = checkAppend(stream, options);
    const kept = toKeptTexts(stream, values);
    checkOpen(life, "log.append");
    return lane.write({
      statement: sql("append", stream, kept, expectedPosition, time),
      lock: `${schema}/log/${stream}`,
      stream: kept.length > 0 ? stream : undefined,
      read([row]) {
        const found = Number(row?.["found"]);
        checkPosition(stream, found, expectedPosition);
        return found + kept.length;
      },
    });
  };
}

function toEntry(row: Row): LogEntry {
  return {
    position: Number(row["position"]),
    time: Number(row["time"]),
    value: JSON.parse(String(row["value"])) as JsonValue,
  };
}

/** Makes the statements for the tables of `schema`. `append` counts on its stream being locked, so that positions have no gaps. */
function logStatements(schema: string) {
  return createStatements("log", {
    append: `WITH old AS (SELECT coalesce((SELECT position FROM ${schema}.streams WHERE name = $1), 0) AS position),
      moved AS (
        INSERT INTO ${schema}.streams (name, position)
        SELECT $1, position + cardinality($2::text[]) FROM old
        WHERE cardinality($2::text[]) > 0 AND ($3::bigint IS NULL OR $3 = position)
        ON CONFLICT (name) DO UPDATE SET position = EXCLUDED.position RETURNING id),
      added AS (
        INSERT INTO ${schema}.entries (stream, position, time, value)
        SELECT moved.id, old.position + item.number, coalesce($4::bigint, ${nowMs}), item.value
        FROM moved, old, unnest($2::text[]) WITH ORDINALITY AS item (value, number))
      SELECT position AS found FROM old`,
    read: `SELECT entry.position, entry.time, entry.value
      FROM ${schema}.streams AS stream JOIN ${schema}.entries AS entry ON entry.stream = stream.id
      WHERE stream.name = $1 AND entry.position > $2 ORDER BY entry.position LIMIT $3`,
    position: `SELECT position FROM ${schema}.streams WHERE name = $1`,
    streams: `SELECT name FROM ${schema}.streams
      WHERE name >= $1 AND name < $2 AND name > $3 ORDER BY name LIMIT $4`,
  });
}
