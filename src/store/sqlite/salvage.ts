import type { DatabaseSync } from "node:sqlite";

import { chunksPerBlob } from "./blob-rows.ts";
import { digestOf } from "./check-blobs.ts";
import { salvageEntries } from "./salvage-entries.ts";
import { isJson, readTable, readUndamaged, type Sides } from "./salvage-table.ts";
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
