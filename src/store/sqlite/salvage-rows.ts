import type { DatabaseSync, SQLOutputValue } from "node:sqlite";

import { isDamage } from "./sqlite-errors.ts";

/** A row as SQLite gives it. */
export type SalvagedRow = Readonly<Record<string, SQLOutputValue>>;

/** How many numbers are asked for at once. */
const step = 512;

/**
 * Reads every row of a table that can be read. What fails is halved until the rows that cannot be read are alone. `lost` is called
 * for each number at which there may have been one.
 */
export function* salvageRows(database: DatabaseSync, table: string, lost: () => void): Generator<SalvagedRow> {
  const select = database.prepare(`SELECT rowid AS number, * FROM ${table} WHERE rowid BETWEEN ? AND ? ORDER BY rowid`);

  function* readRange(first: number, last: number): Generator<SalvagedRow> {
    try {
      yield* select.all(first, last);
    } catch (cause) {
      if (!isDamage(cause)) throw cause;
      const middle = Math.floor((first + last) / 2);
      if (first === last) return lost();
      yield* readRange(first, middle);
      yield* readRange(middle + 1, last);
    }
  }

  const [first, last] = findEnds(database, table, lost);
  for (let number = first; number <= last; number += step) yield* readRange(number, Math.min(number + step - 1, last));
}

/** When the ends cannot be read, we look among the numbers that a table of ours can be expected to have. */
const guessedLast = 1_000_000;

function findEnds(database: DatabaseSync, table: string, lost: () => void): readonly [number, number] {
  const find = (sql: string, otherwise: number): number => {
    try {
      return Number(database.prepare(`SELECT ${sql} AS number FROM ${table}`).get()?.["number"] ?? 0);
    } catch (cause) {
      if (!isDamage(cause)) throw cause;
      lost();
      return otherwise;
    }
  };
  return [find("min(rowid)", 1), find("max(rowid)", guessedLast)];
}
