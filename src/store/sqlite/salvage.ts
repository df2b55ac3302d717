import type { DatabaseSync, SQLOutputValue } from "node:sqlite";

import { chunksPerBlob, digestOf } from "./blob-rows.ts";
import { isDamage } from "./sqlite-errors.ts";

/** What could be read of a damaged file. */
export interface Salvage {
  readonly saved: { readonly values: number; readonly entries: number; readonly blobs: number; readonly jobs: number };
  /** What could not, in words. */
  readonly lost: readonly string[];
}

/** Copies what can be read from `source` to `target`, which is new. */
export function salvage(source: DatabaseSync, target: DatabaseSync): Salvage {
  const sides: Sides = { source, target, lost: [] };
  const values = salvageValues(sides);
  copyTable(sides, "streams", ["id", "name"]);
  const entries = salvageEntries(sides);
  const blobs = salvageBlobs(sides);
  copyTable(sides, "queues", ["id", "name"]);
  const jobs = salvageJobs(sides);
  restoreCounter(sides);
  return { saved: { values, entries, blobs, jobs }, lost: sides.lost };
}

function copyTable(sides: Sides, table: string, columns: readonly string[]): number {
  const marks = columns.map(() => "?").join(", ");
  const insert = sides.target.prepare(`INSERT OR IGNORE INTO ${table} (${columns.join(", ")}) VALUES (${marks})`);
  let count = 0;
  for (const row of readTable(sides, table)) {
    count += Number(insert.run(...columns.map((column) => row[column] ?? null)).changes);
  }
  return count;
}

function salvageValues(sides: Sides): number {
  const insert = sides.target.prepare("INSERT OR IGNORE INTO kv (key, value, version, expires_at) VALUES (?, ?, ?, ?)");
  let count = 0;
  for (const { key, value, version, expires_at: expiresAt } of readTable(sides, "kv")) {
    if (isJson(value)) count += Number(insert.run(key ?? null, value, version ?? null, expiresAt ?? null).changes);
    else sides.lost.push(`the value of "${String(key)}"`);
  }
  return count;
}

function salvageBlobs(sides: Sides): number {
  const { source, target, lost } = sides;
  const insert = target.prepare("INSERT INTO blobs (id, digest, size, put_at) VALUES (?, ?, ?, ?)");
  const chunks = source.prepare("SELECT id, bytes FROM chunks WHERE id >= ? AND id < ?");
  const insertChunk = target.prepare("INSERT INTO chunks (id, bytes) VALUES (?, ?)");
  let count = 0;
  for (const { id, digest, size, put_at: putAt } of readTable(sides, "blobs")) {
    if (digest === null) continue;
    if (readUndamaged(() => digestOf(source, Number(id), Number(size))) !== digest) {
      lost.push(`the blob ${String(digest)}`);
      continue;
    }
    insert.run(id ?? null, digest ?? null, size ?? null, putAt ?? null);
    const first = Number(id) * chunksPerBlob;
    for (const chunk of chunks.iterate(first, first + chunksPerBlob)) {
      insertChunk.run(chunk["id"] ?? null, chunk["bytes"] ?? null);
    }
    count += 1;
  }
  return count;
}

/** Jobs have no numbers to halve: they are read from both ends. */
function salvageJobs({ source, target, lost }: Sides): number {
  const insert = target.prepare("INSERT OR IGNORE INTO jobs VALUES (?, ?, ?, ?, ?, ?, ?, ?)");
  let count = 0;
  for (const direction of ["ASC", "DESC"]) {
    try {
      for (const row of source.prepare(`SELECT * FROM jobs ORDER BY queue ${direction}, id ${direction}`).iterate()) {
        count += Number(insert.run(...Object.values(row)).changes);
      }
      return count;
    } catch (cause) {
      if (!isDamage(cause)) throw cause;
      if (direction === "DESC") lost.push(`${count === 0 ? "everything in" : "parts of"} the table "jobs"`);
    }
  }
  return count;
}

/** No number may be given twice: it goes on behind all that are in the file, also if the counter itself was lost. */
function restoreCounter({ source, target, lost }: Sides): void {
  let last = 0;
  try {
    last = Number(source.prepare("SELECT value FROM counters WHERE name = 'last'").get()?.["value"] ?? 0);
  } catch (cause) {
    if (!isDamage(cause)) throw cause;
    lost.push("the last version: versions go on from the greatest that was found");
  }
  target
    .prepare(
      `UPDATE counters SET value = max(?, (SELECT coalesce(max(version), 0) FROM kv), (SELECT coalesce(max(number), 0) FROM jobs))`,
    )
    .run(last);
}

/** Copies the entries of all streams, whose names are there already, and answers how many. */
function salvageEntries(sides: Sides): number {
  const { source, target, lost } = sides;
  const insert = target.prepare("INSERT OR IGNORE INTO entries (stream, position, time, value) VALUES (?, ?, ?, ?)");
  let count = 0;
  let failures = 0;
  for (const { stream, position, time, value } of salvageRows(source, "entries", () => (failures += 1))) {
    if (!isJson(value)) continue;
    count += Number(insert.run(stream ?? null, position ?? null, time ?? null, value).changes);
  }
  target.exec(
    "INSERT INTO streams (id, name) SELECT DISTINCT stream, 'lost:' || stream FROM entries WHERE stream NOT IN (SELECT id FROM streams)",
  );
  const isKnown = tellMissing(sides);
  if (failures > 0 && !isKnown) lost.push(describeLoss(source, "entries", count));
  fillGaps(sides);
  target.exec("DELETE FROM streams WHERE id NOT IN (SELECT stream FROM entries)");
  return count;
}

/** Says what each stream has lost, also at its end; answers whether the damaged file still knows where all of them ended. */
function tellMissing({ source, target, lost }: Sides): boolean {
  const streams = target.prepare(
    `SELECT id, name, count(position) AS count, coalesce(max(position), 0) AS last
     FROM streams LEFT JOIN entries ON entries.stream = streams.id GROUP BY id`,
  );
  const find = source.prepare(
    "SELECT coalesce(max(position), 0) AS last FROM entries INDEXED BY entries_position WHERE stream = ?",
  );
  let isKnown = true;
  for (const { id, name, count, last } of streams.all()) {
    const known = readUndamaged(() => find.get(id ?? null)?.["last"]);
    if (known === undefined) isKnown = false;
    const length = Math.max(Number(last), Number(known ?? 0));
    const missing = length - Number(count);
    if (missing > 0) lost.push(`${showShare(missing, length, "entries")} of "${String(name)}"`);
    // Every stream has an entry: it is made with the first.
    if (length === 0) lost.push(`all entries of "${String(name)}"`);
  }
  return isKnown;
}

/** Positions count from 1 without gaps, and what follows a lost entry must keep its own. */
function fillGaps({ target }: Sides): void {
  const streams = target.prepare(
    "SELECT stream, max(position) AS last FROM entries GROUP BY stream HAVING max(position) <> count(*)",
  );
  const insert = target.prepare("INSERT OR IGNORE INTO entries (stream, position, time, value) VALUES (?, ?, 0, ?)");
  for (const { stream, last } of streams.all()) {
    for (let position = 1; position <= Number(last); position++) insert.run(stream ?? null, position, '{"lost":true}');
  }
}

/** The damaged file, the new one, and what could not be brought from one to the other, in words. */
interface Sides {
  readonly source: DatabaseSync;
  readonly target: DatabaseSync;
  readonly lost: string[];
}

/** Reads a table, and says so if a part of it could not be read. */
function* readTable({ source, lost }: Sides, table: string): Generator<SalvagedRow> {
  let failures = 0;
  let count = 0;
  for (const row of salvageRows(source, table, () => (failures += 1))) {
    count += 1;
    yield row;
  }
  if (failures > 0) lost.push(describeLoss(source, table, count));
}

/** Says how much of a table is missing, as exactly as an index of it knows. */
function describeLoss(source: DatabaseSync, table: string, saved: number): string {
  const select = `SELECT count(*) AS count FROM ${table} INDEXED BY "${findIndex(source, table)}"`;
  const row = readUndamaged(() => source.prepare(select).get());
  if (row === undefined) return `${saved === 0 ? "everything in" : "parts of"} the table "${table}"`;
  const count = Number(row["count"]);
  return `${showShare(count - saved, count, "rows")} of the table "${table}"`;
}

/** `all 5 rows` or `2 of the 5 rows`. */
function showShare(lost: number, count: number, what: string): string {
  return lost === count ? `all ${count} ${what}` : `${lost} of the ${count} ${what}`;
}

/** What `read` answers; `undefined` if it comes upon something damaged. */
function readUndamaged<Result>(read: () => Result): Result | undefined {
  try {
    return read();
  } catch (cause) {
    if (isDamage(cause)) return undefined;
    throw cause;
  }
}

/** Tells whether a value can be kept as it is. */
function isJson(value: unknown): value is string {
  if (typeof value !== "string") return false;
  try {
    JSON.parse(value);
    return true;
  } catch {
    return false;
  }
}

/** A row as SQLite gives it. */
type SalvagedRow = Readonly<Record<string, SQLOutputValue>>;

/**
 * Reads every row of a table that can be read, in order. `lost` is called at each place where one could not be, or more: it goes
 * on with the next row that can.
 */
function* salvageRows(database: DatabaseSync, table: string, lost: () => void): Generator<SalvagedRow> {
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

/** The first row number from which on rows can be read; `undefined` if the rest of the table cannot be read. */
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

/** The name of an index that has every row of a table: each of our tables with numbers has one. */
function findIndex(database: DatabaseSync, table: string): string {
  const index = database.prepare("SELECT name FROM pragma_index_list(?) WHERE partial = 0").get(table);
  return String(index?.["name"]);
}
