import type { CheckedAppend } from "../check-append.ts";
import { nowMs, type KeyRange } from "./kv-statements.ts";
import type { Statement } from "./postgres-link.ts";

/** What `log` asks of the server. `append` counts on its stream being locked, so that positions have no gaps. */
export interface LogStatements {
  append(stream: string, values: readonly string[], options: CheckedAppend): Statement;
  read(stream: string, after: number, limit: number): Statement;
  position(stream: string): Statement;
  streams(range: KeyRange): Statement;
}

/** Makes the statements for the tables of `schema`. */
export function logStatements(schema: string): LogStatements {
  const texts = {
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
  };

  return {
    append: (stream, values, { expectedPosition, time }) => ({
      name: "append",
      text: texts.append,
      values: [stream, values, expectedPosition, time],
    }),
    read: (stream, after, limit) => ({ name: "read", text: texts.read, values: [stream, after, limit] }),
    position: (stream) => ({ name: "position", text: texts.position, values: [stream] }),
    streams: ({ prefix, end, after, limit }) => ({
      name: "streams",
      text: texts.streams,
      values: [prefix, end, after, limit],
    }),
  };
}
