import type { DatabaseSync } from "node:sqlite";

import type { Schema } from "./schema.ts";

/** What SQLite itself keeps beside the tables when its statistics are refreshed by hand. */
const statistics = /^table sqlite_stat\d$/u;

const expectedTexts = new WeakMap<Schema, ReadonlyMap<string, string>>();

/**
 * Says how the tables of a file differ from those that this version makes; `undefined` if they do not. A trigger or a view is a
 * difference: whoever writes to the file would run it.
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
