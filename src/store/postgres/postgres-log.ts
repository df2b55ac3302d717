import type { JsonValue } from "../../core/json.ts";
import type { LogEntry, LogStore } from "../../core/store.ts";
import { checkAppend, checkPosition, toKeptTexts } from "../check-append.ts";
import { checkKey } from "../check-key.ts";
import { checkList } from "../check-list.ts";
import { checkWhole } from "../check-whole.ts";
import { createRemoteTail } from "../remote-tail.ts";
import { checkOpen } from "../store-life.ts";
import { createPostgresNotices, type PostgresNotices } from "./create-postgres-notices.ts";
import { logStatements, type LogStatements } from "./log-statements.ts";
import { createPostgresLane } from "./postgres-lane.ts";
import type { Row } from "./postgres-link.ts";
import type { PostgresParts } from "./postgres-parts.ts";
import { toPrefixEnd } from "../to-prefix-end.ts";

/** Makes the `log` part of a Postgres store. */
export function postgresLog(parts: PostgresParts): LogStore {
  const { life, reader } = parts;
  const sql = logStatements(parts.schema);
  const notices = createPostgresNotices(parts);
  const read = async (stream: string, after: number, limit: number): Promise<LogEntry[]> =>
    (await reader.read(sql.read(stream, after, limit))).map(toEntry);

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
      const [row] = await reader.read(sql.position(stream));
      return Number(row?.["position"] ?? 0);
    },
    async streams(options) {
      const { prefix, after, limit } = checkList(options);
      checkOpen(life, "log.streams");
      const rows = await reader.read(sql.streams({ prefix, end: toPrefixEnd(prefix), after, limit }));
      return rows.map((row) => String(row["name"]));
    },
  };
}

function createAppend(
  { life, schema, shown, openLink, onDrain }: PostgresParts,
  sql: LogStatements,
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
      statement: sql.append(stream, kept, { expectedPosition, time }),
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
