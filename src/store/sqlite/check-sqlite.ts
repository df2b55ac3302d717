import { existsSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";

import { KitbagError } from "../../core/errors.ts";
import { checkBlobs } from "./blob-rows.ts";
import { checkReadable } from "./migrate.ts";
import { openReadable } from "./open-database.ts";
import { findSchemaDifference, schema } from "./schema.ts";
import { isDamage, toUnavailable } from "./sqlite-errors.ts";

/** Something that is not as it must be. */
export interface SqliteProblem {
  /** The table, the stream, the key or the digest. */
  readonly where: string;
  readonly problem: string;
}

/** What {@link checkSqlite} found. */
export interface SqliteReport {
  readonly file: string;
  /** None if all is well. */
  readonly problems: readonly SqliteProblem[];
}

/** At most so many problems of one kind are told. */
const mostTold = 100;

/** What must hold of the tables: each query finds what is wrong. */
const rules: readonly { readonly sql: string; readonly problem: string }[] = [
  {
    sql: `SELECT coalesce(streams.name, 'stream ' || stream) AS place FROM entries LEFT JOIN streams ON streams.id = stream
          GROUP BY stream HAVING min(position) <> 1 OR max(position) <> count(*)`,
    problem: "entries are missing: the positions have gaps",
  },
  {
    sql: `SELECT 'stream ' || stream AS place FROM entries LEFT JOIN streams ON streams.id = stream
          WHERE streams.id IS NULL GROUP BY stream`,
    problem: "the name of the stream is missing",
  },
  {
    sql: "SELECT name AS place FROM streams WHERE NOT EXISTS (SELECT 1 FROM entries WHERE stream = streams.id)",
    problem: "the stream has no entries",
  },
  {
    sql: `SELECT coalesce(streams.name, 'stream ' || stream) || '[' || position || ']' AS place
          FROM entries LEFT JOIN streams ON streams.id = stream WHERE NOT json_valid(value)`,
    problem: "the value is not JSON",
  },
  { sql: "SELECT key AS place FROM kv WHERE NOT json_valid(value)", problem: "the value is not JSON" },
  {
    sql: `SELECT key AS place FROM kv WHERE version < 1 OR version > (SELECT value FROM counters WHERE name = 'last')
          OR version IN (SELECT version FROM kv GROUP BY version HAVING count(*) > 1)`,
    problem: "the version is one that was never given, or was given twice",
  },
  {
    sql: `SELECT jobs.id AS place FROM jobs LEFT JOIN queues ON queues.id = queue WHERE queues.id IS NULL
          OR number > (SELECT value FROM counters WHERE name = 'last')`,
    problem: "the job belongs to no queue, or to no order",
  },
];

/**
 * Looks for damage in the file of an SQLite store, while others may use it: whether SQLite can read all of it, and whether what it
 * says holds together. It changes nothing.
 *
 * @throws {KitbagError} `store-unavailable` if there is no such file, or it may not be read; `store-newer`
 */
export async function checkSqlite(file: string): Promise<SqliteReport> {
  checkExists(file);
  let database: DatabaseSync | undefined;
  try {
    database = await openReadable(file);
    checkReadable(file, database, schema);
    return { file, problems: findProblems(database) };
  } catch (cause) {
    if (!isDamage(cause)) throw toUnavailable(file, cause);
    return { file, problems: [{ where: file, problem: toProblem(cause) }] };
  } finally {
    database?.close();
  }
}

/**
 * Checks that there is something to work on.
 *
 * @throws {KitbagError} `store-unavailable`
 */
export function checkExists(file: string): void {
  if (existsSync(file)) return;
  throw new KitbagError("store-unavailable", {
    store: file,
    reason: "there is no such file",
    cure: "give the path of the file of a store",
    mayBeWritten: false,
  });
}

function findProblems(database: DatabaseSync): readonly SqliteProblem[] {
  database.exec("BEGIN");
  return [
    ...attempt("file", () => checkPages(database)),
    ...attempt("tables", () => checkSchema(database)),
    ...rules.flatMap((rule) => attempt("tables", () => checkRule(database, rule))),
    ...attempt("blobs", () => checkBlobs(database)),
  ];
}

/** A part that cannot be read is a problem, and no reason to leave the others out. */
function attempt(where: string, check: () => readonly SqliteProblem[]): readonly SqliteProblem[] {
  try {
    return check();
  } catch (cause) {
    if (isDamage(cause)) return [{ where, problem: toProblem(cause) }];
    throw cause;
  }
}

function toProblem(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}

function checkPages(database: DatabaseSync): readonly SqliteProblem[] {
  return database
    .prepare(`PRAGMA integrity_check(${mostTold})`)
    .all()
    .map((row) => String(row["integrity_check"]))
    .filter((line) => line !== "ok")
    .map((problem) => ({ where: "file", problem }));
}

function checkSchema(database: DatabaseSync): readonly SqliteProblem[] {
  const problem = findSchemaDifference(database, schema);
  return problem === undefined ? [] : [{ where: "tables", problem }];
}

function checkRule(database: DatabaseSync, { sql, problem }: (typeof rules)[number]): readonly SqliteProblem[] {
  const rows = database.prepare(`${sql} LIMIT ${mostTold}`).all();
  return rows.map((row) => ({ where: String(row["place"]), problem }));
}
