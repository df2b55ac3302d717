import type { DatabaseSync } from "node:sqlite";

/** The name of an index that has every row of a table: each of our tables with numbers has one. */
export function findIndex(database: DatabaseSync, table: string): string {
  const index = database.prepare("SELECT name FROM pragma_index_list(?) WHERE partial = 0").get(table);
  return String(index?.["name"]);
}
