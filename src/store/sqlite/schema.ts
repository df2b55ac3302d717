import type { DatabaseSync } from "node:sqlite";

/** How the tables look, and how older ones become so. */
export interface Schema {
  /** What `PRAGMA user_version` says of a file that looks like this. */
  readonly version: number;
  /** Makes the tables in an empty file. */
  readonly create: string;
  /** What turns the tables of version 1 into those of version 2, and so on. */
  readonly migrations: readonly ((database: DatabaseSync) => void)[];
}

/** Says in the file's header whose it is: "Kitb". */
export const applicationId = 0x4b697462;

/**
 * The tables as they are now. Entries are kept in the order in which they came, whatever their stream, so that a commit touches
 * few pages; the index finds those of one stream.
 */
export const schema: Schema = {
  version: 1,
  create: `
    CREATE TABLE counters (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
    INSERT INTO counters VALUES ('last', 0);

    CREATE TABLE kv (
      key TEXT NOT NULL UNIQUE, value TEXT NOT NULL, version INTEGER NOT NULL, expires_at INTEGER
    );
    CREATE INDEX kv_expires ON kv (expires_at) WHERE expires_at IS NOT NULL;

    CREATE TABLE streams (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
    CREATE TABLE entries (
      number INTEGER PRIMARY KEY, stream INTEGER NOT NULL, position INTEGER NOT NULL, time INTEGER NOT NULL, value TEXT NOT NULL
    );
    CREATE UNIQUE INDEX entries_position ON entries (stream, position);

    -- A blob without a digest is not complete, or is about to be removed (put_at 0).
    CREATE TABLE blobs (
      id INTEGER PRIMARY KEY AUTOINCREMENT, digest TEXT UNIQUE, size INTEGER NOT NULL, put_at INTEGER NOT NULL
    );
    -- The id is that of the blob times 2^24, plus the number of the chunk.
    CREATE TABLE chunks (id INTEGER PRIMARY KEY, bytes BLOB NOT NULL);

    CREATE TABLE queues (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
    CREATE TABLE jobs (
      queue INTEGER NOT NULL, id TEXT NOT NULL, priority INTEGER NOT NULL, number INTEGER NOT NULL, attempt INTEGER NOT NULL,
      ready_at INTEGER NOT NULL, is_claimed INTEGER NOT NULL, is_waiting INTEGER NOT NULL,
      PRIMARY KEY (queue, id)
    ) WITHOUT ROWID;
    CREATE INDEX jobs_ready ON jobs (queue, priority DESC, ready_at, number) WHERE is_waiting = 0;
    CREATE INDEX jobs_waiting ON jobs (queue, ready_at) WHERE is_waiting = 1;
  `,
  migrations: [],
};

/** What SQLite itself keeps beside the tables when its statistics are refreshed by hand. */
const statistics = /^table sqlite_stat\d$/u;

const expectedTexts = new WeakMap<Schema, ReadonlyMap<string, string>>();

/**
 * Says how the tables of a file differ from those that this version makes; `undefined` if they do not. A trigger or a view is a
 * difference, because every write to the file would run it.
 */
export function findSchemaDifference(database: DatabaseSync, schema: Schema): string | undefined {
  const found = readTexts(database);
  const expected = findExpected(database, schema);
  for (const [name, text] of found) {
    if (expected.get(name) === text || statistics.test(name)) continue;
    return expected.has(name)
      ? `the ${quoteName(name)} is another one`
      : `it has the ${quoteName(name)} of another program`;
  }
  for (const name of expected.keys()) if (!found.has(name)) return `the ${quoteName(name)} is missing`;
  return undefined;
}

function findExpected(database: DatabaseSync, schema: Schema): ReadonlyMap<string, string> {
  const known = expectedTexts.get(schema);
  if (known !== undefined) return known;
  const { constructor: Database } = Object.getPrototypeOf(database) as { constructor: typeof DatabaseSync };
  const example = new Database(":memory:");
  try {
    example.exec(schema.create);
    const texts = readTexts(example);
    expectedTexts.set(schema, texts);
    return texts;
  } finally {
    example.close();
  }
}

/** The statement that made each table, index, trigger and view, by its kind and name. */
function readTexts(database: DatabaseSync): ReadonlyMap<string, string> {
  const rows = database
    .prepare("SELECT type || ' ' || name AS name, coalesce(sql, '') AS text FROM sqlite_schema")
    .all();
  return new Map(rows.map(({ name, text }) => [String(name), String(text).replaceAll(/\s+/gu, " ")]));
}

function quoteName(name: string): string {
  const [kind = "", ...words] = name.split(" ");
  return `${kind} ${JSON.stringify(words.join(" ").slice(0, 100))}`;
}
