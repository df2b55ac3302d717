import { putIn, toPython, type ToolTemplate } from "./template.ts";
import { closed } from "../drafts/draft-schema.ts";

interface SqlQuery {
  readonly database: string;
  readonly maxRows: number;
}

/** A tool that reads a SQLite database, and cannot change it. */
export const sqlQuery: ToolTemplate = {
  name: "sql-query",
  makes: "tool",
  description:
    "SQL queries of a SQLite database file, read only: SELECT with bound values, rows as JSON, and a list of its tables",
  parameters: closed({
    database: {
      type: "string",
      minLength: 1,
      maxLength: 200,
      default: "./data/app.db",
      description: "The file of the database",
    },
    maxRows: {
      type: "integer",
      minimum: 1,
      maximum: 10_000,
      default: 100,
      description: "How many rows it gives at most",
    },
  }),
  toDraft({ name, description, values }) {
    const { database, maxRows } = values as unknown as SqlQuery;
    return {
      name,
      description:
        description ?? `Asks the SQLite database ${database}: reads, never writes. Call it with no sql for its tables.`,
      language: "python",
      code: putIn(program, toPython({ database, maxRows })),
      input: closed({
        sql: { type: "string", description: "One SELECT; ? for each of the values. Without it: the tables" },
        values: {
          type: "array",
          items: { anyOf: [{ type: "string" }, { type: "number" }, { type: "null" }] },
          default: [],
        },
        demo: {
          type: "boolean",
          default: false,
          description: "Asks a small table fruits(name, price) instead of the file",
        },
      }),
      output: {
        type: "object",
        properties: {
          columns: { type: "array", items: { type: "string" } },
          rows: { type: "array", items: { type: "array" } },
          more: { type: "boolean", description: "There are more rows" },
        },
        required: ["columns", "rows", "more"],
      },
      annotations: { readOnly: true, idempotent: true },
      permissions: { read: [database] },
      examples: [
        {
          description: "A small table instead of the file",
          input: {
            sql: "select name, price from fruits where price > ? order by price limit 1",
            values: [1],
            demo: true,
          },
          output: { columns: ["name", "price"], rows: [["pear", 2.5]], more: false },
        },
        { description: "Its tables", input: { demo: true } },
      ],
    };
  },
};

const program = String.raw`import json
import pathlib
import sqlite3
import sys

SETTINGS = @VALUES@
TABLES = "select name, sql from sqlite_master where type in ('table', 'view') order by name"
ALLOWED = {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, 33}  # 33: recursive queries
FORBIDDEN = {"load_extension", "readfile", "writefile"}


def allow(action, first, second, database, trigger):
    if action == sqlite3.SQLITE_FUNCTION:
        return sqlite3.SQLITE_DENY if str(second).lower() in FORBIDDEN else sqlite3.SQLITE_OK
    return sqlite3.SQLITE_OK if action in ALLOWED else sqlite3.SQLITE_DENY


def connect(demo):
    if demo:
        connection = sqlite3.connect(":memory:")
        connection.execute("create table fruits (name text, price real)")
        connection.executemany("insert into fruits values (?, ?)", [("apple", 1), ("pear", 2.5), ("plum", 3)])
        connection.commit()
        return connection
    path = pathlib.Path(SETTINGS["database"]).resolve()
    if not path.is_file():
        sys.exit("There is no database " + SETTINGS["database"])
    return sqlite3.connect(path.as_uri() + "?mode=ro", uri=True)


def to_json(value):
    return "<" + str(len(value)) + " bytes>" if isinstance(value, bytes) else value


arguments = json.load(sys.stdin)
try:
    connection = connect(arguments.get("demo", False))
    connection.set_authorizer(allow)
    cursor = connection.execute(arguments.get("sql", TABLES), arguments.get("values", []))
    rows = cursor.fetchmany(SETTINGS["maxRows"] + 1)
except (sqlite3.Error, sqlite3.Warning) as error:
    sys.exit("The database says: " + str(error))
print(json.dumps({
    "columns": [column[0] for column in cursor.description or []],
    "rows": [[to_json(value) for value in row] for row in rows[: SETTINGS["maxRows"]]],
    "more": len(rows) > SETTINGS["maxRows"],
}))
`;
