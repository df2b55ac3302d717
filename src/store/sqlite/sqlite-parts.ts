import { KitbagError } from "../../core/errors.ts";
import type { StoreLife } from "../store-life.ts";
import type { SqliteDatabase } from "./open-database.ts";
import { retryWhileBusy, toUnavailable } from "./sqlite-errors.ts";
import type { SqliteWriter } from "./sqlite-writer.ts";

/** What the parts of one SQLite store share. */
export interface SqliteParts {
  readonly life: StoreLife;
  readonly database: SqliteDatabase;
  readonly writer: SqliteWriter;
}

/**
 * Reads at once, but after the writes to `scope` (or to anything, without one) that were called before.
 *
 * @throws {KitbagError} `store-unavailable`; `store-closed` if it was closed meanwhile.
 */
export async function read<Value>(
  { database, writer }: SqliteParts,
  operation: string,
  run: () => Value,
  scope?: string,
): Promise<Value> {
  await writer.whenWritten(scope);
  try {
    return await retryWhileBusy(() => {
      if (!database.isOpen()) throw new KitbagError("store-closed", { operation });
      return run();
    });
  } catch (cause) {
    throw toUnavailable(database.file, cause);
  }
}

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
