import type { DatabaseSync } from "node:sqlite";

import { findIndex } from "./find-index.ts";
import { salvageRows, type SalvagedRow } from "./salvage-rows.ts";
import { isDamage } from "./sqlite-errors.ts";

/** The damaged file, the new one, and what could not be brought from one to the other, in words. */
export interface Sides {
  readonly source: DatabaseSync;
  readonly target: DatabaseSync;
  readonly lost: string[];
}

/** Reads a table, and says so if a part of it could not be read. */
export function* readTable({ source, lost }: Sides, table: string): Generator<SalvagedRow> {
  let failures = 0;
  let count = 0;
  for (const row of salvageRows(source, table, () => (failures += 1))) {
    count += 1;
    yield row;
  }
  if (failures > 0) lost.push(describeLoss(source, table, count));
}

/** Says how much of a table is missing, as exactly as an index of it knows. */
export function describeLoss(source: DatabaseSync, table: string, saved: number): string {
  const select = `SELECT count(*) AS count FROM ${table} INDEXED BY "${findIndex(source, table)}"`;
  const row = readUndamaged(() => source.prepare(select).get());
  if (row === undefined) return `${saved === 0 ? "everything in" : "parts of"} the table "${table}"`;
  const count = Number(row["count"]);
  return `${showShare(count - saved, count, "rows")} of the table "${table}"`;
}

/** So many of so many, in words. */
export function showShare(lost: number, count: number, what: string): string {
  return lost === count ? `all ${count} ${what}` : `${lost} of the ${count} ${what}`;
}

/** What `read` answers; `undefined` if it comes upon something damaged. */
export function readUndamaged<Result>(read: () => Result): Result | undefined {
  try {
    return read();
  } catch (cause) {
    if (isDamage(cause)) return undefined;
    throw cause;
  }
}

/** Tells whether a value can be kept as it is. */
export function isJson(value: unknown): value is string {
  if (typeof value !== "string") return false;
  try {
    JSON.parse(value);
    return true;
  } catch {
    return false;
  }
}
