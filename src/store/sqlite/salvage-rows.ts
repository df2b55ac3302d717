import type { DatabaseSync, SQLOutputValue } from "node:sqlite";

import { findIndex } from "./find-index.ts";
import { isDamage } from "./sqlite-errors.ts";

/** A row as SQLite gives it. */
export type SalvagedRow = Readonly<Record<string, SQLOutputValue>>;

/**
 * Reads every row of a table that can be read, in order. `lost` is called at each place where one could not be, or more: it goes
 * on with the next row that can.
 */
export function* salvageRows(database: DatabaseSync, table: string, lost: () => void): Generator<SalvagedRow> {
  const select = database.prepare(`SELECT rowid AS number, * FROM ${table} WHERE rowid >= ? ORDER BY rowid`);
  let next: number | undefined = 1;
  while (next !== undefined) {
    try {
      for (const row of select.iterate(next)) {
        yield row;
        next = Number(row["number"]) + 1;
      }
      return;
    } catch (cause) {
      if (!isDamage(cause)) throw cause;
      lost();
      next = findReadable(database, table, next);
    }
  }
}

/** The first number from which on a row can be read, or from which on there is none. */
function findReadable(database: DatabaseSync, table: string, first: number): number | undefined {
  const seek = database.prepare(`SELECT * FROM ${table} WHERE rowid >= ? ORDER BY rowid LIMIT 1`);

  function isReadable(number: number): boolean {
    try {
      seek.get(number);
      return true;
    } catch (cause) {
      if (isDamage(cause)) return false;
      throw cause;
    }
  }

  let failed = first;
  for (const number of findNumbers(database, table, first)) {
    if (!isReadable(number)) {
      failed = number;
      continue;
    }
    let found = number;
    while (found - failed > 1) {
      const middle = Math.floor((failed + found) / 2);
      if (isReadable(middle)) found = middle;
      else failed = middle;
    }
    return found;
  }
  return undefined;
}

/** How many numbers are asked for at once. */
const numbersAtOnce = 10_000;

/** A row takes no less, so a page holds no more than its size divided by this. */
const leastRowBytes = 8;

/**
 * Numbers at which there may be a row, in order. An index knows which there are. Where it is damaged, too, it is every number that
 * the pages of the file have room for, and then ever larger steps, for a table of which much was deleted.
 */
function* findNumbers(database: DatabaseSync, table: string, first: number): Generator<number> {
  let next = first;
  try {
    const list = database.prepare(
      `SELECT rowid AS number FROM ${table} INDEXED BY "${findIndex(database, table)}" WHERE rowid >= ?
       ORDER BY rowid LIMIT ${numbersAtOnce}`,
    );
    for (;;) {
      const rows = list.all(next);
      for (const { number } of rows) {
        yield Number(number);
        next = Number(number) + 1;
      }
      if (rows.length < numbersAtOnce) return;
    }
  } catch (cause) {
    if (!isDamage(cause)) throw cause;
  }
  const last = next + countRoom(database);
  for (; next < last; next++) yield next;
  for (let step = 1; Number.isSafeInteger(next + step); step *= 2) yield next + step;
}

/** How many rows the whole file has room for. */
function countRoom(database: DatabaseSync): number {
  const read = (pragma: string): number => Number(database.prepare(`PRAGMA ${pragma}`).get()?.[pragma]);
  return Math.ceil((read("page_count") * read("page_size")) / leastRowBytes);
}
