import type { SqliteDatabase } from "./open-database.ts";

/** The numbers that stand for names in other tables. A name keeps its number for ever. */
export interface NameIds {
  find(name: string): number | undefined;
  /** Inside of a write: finds or makes it. */
  make(name: string): number;
}

/** Above this many names in memory they are forgotten, and asked for again. */
const maxRemembered = 10_000;

/** Makes the numbers of the names in `table`. */
export function createNameIds({ sql, number, onRollback }: SqliteDatabase, table: "streams" | "queues"): NameIds {
  const remembered = new Map<string, number>();
  onRollback(() => remembered.clear());

  function remember(name: string, id: number): number {
    if (remembered.size >= maxRemembered) remembered.clear();
    remembered.set(name, id);
    return id;
  }

  function find(name: string): number | undefined {
    const known = remembered.get(name);
    if (known !== undefined) return known;
    const id = number(`SELECT id FROM ${table} WHERE name = ?`, name);
    return id === undefined ? undefined : remember(name, id);
  }

  return {
    find,
    make(name) {
      const insert = sql(`INSERT INTO ${table} (name) VALUES (?)`);
      return find(name) ?? remember(name, Number(insert.run(name).lastInsertRowid));
    },
  };
}
