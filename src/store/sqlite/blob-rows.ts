import { createHash } from "node:crypto";
import type { DatabaseSync } from "node:sqlite";
import { isUint8Array } from "node:util/types";

import { checkPiece, checkSource } from "../checks.ts";
import type { SqliteDatabase } from "./open-database.ts";
import type { SqliteParts } from "./sqlite-parts.ts";

/** The id of a chunk is the id of its blob times this, plus its number. */
export const chunksPerBlob = 2 ** 24;

/** How many chunks are removed in one transaction. */
const removedAtOnce = 128;

/** How long nothing may come of a blob before it counts as abandoned. */
const abandonedMs = 3_600_000;

/** A blob that is complete. */
export interface BlobRow {
  readonly id: number;
  readonly size: number;
}

/** What is done with the tables of blobs. All but `find`, `list`, `readInto` and `findAbandoned` run inside of a write. */
export interface BlobRows {
  find(digest: string): BlobRow | undefined;
  list(after: string, limit: number): readonly string[];
  /** Fills `target` with the bytes from `offset` on; answers whether they were there. */
  readInto(target: Uint8Array, blob: number, offset: number): boolean;
  /**
   * Adds chunks to an incomplete blob, and creates it if needed; answers with its id, or `undefined` if it was removed as abandoned.
   */
  extend(blob: number | undefined, chunks: readonly Uint8Array[]): number | undefined;
  /**
   * Adds the last chunks and gives the blob its name. If there is one of this name, that one counts as put again, and this one
   * goes. Answers whether it was still there.
   */
  complete(blob: number | undefined, chunks: readonly Uint8Array[], digest: string): boolean;
  /** Gives up a blob that is not complete. */
  abandon(blob: number): void;
  /** Removes the names of blobs, and answers with their number; `failed` never had a name. */
  discard(keep: ReadonlySet<string>, putBefore: number, failed: readonly number[]): number;
  /** A blob without a name whose upload was abandoned. */
  findAbandoned(): number | undefined;
  /** Removes a part of the unnamed blobs, step by step; answers whether there may be more. */
  removeSome(): boolean;
}

/** Makes the access to the tables of blobs. */
export function createBlobRows(parts: SqliteParts): BlobRows {
  const { sql } = parts.database;
  const { now } = parts.life;

  function find(digest: string): BlobRow | undefined {
    if (typeof digest !== "string") return undefined;
    return sql("SELECT id, size FROM blobs WHERE digest = ?").get(digest) as BlobRow | undefined;
  }

  function extend(blob: number | undefined, chunks: readonly Uint8Array[]): number | undefined {
    const id = blob ?? Number(sql("INSERT INTO blobs (size, put_at) VALUES (0, ?)").run(now()).lastInsertRowid);
    const found = sql("SELECT size FROM blobs WHERE id = ? AND digest IS NULL AND put_at <> 0").get(id);
    if (!found) return undefined;
    let size = Number(found["size"]);
    const insert = sql("INSERT INTO chunks (id, bytes) VALUES (?, ?)");
    for (const chunk of chunks) {
      insert.run(id * chunksPerBlob + size / chunkBytes, chunk);
      size += chunk.length;
    }
    sql("UPDATE blobs SET size = ?, put_at = ? WHERE id = ?").run(size, now(), id);
    return id;
  }

  return {
    find,
    extend,
    abandon: (blob) => abandon(sql, blob),
    complete(blob, chunks, digest) {
      const known = find(digest);
      if (known) {
        if (blob !== undefined) abandon(sql, blob);
        sql("UPDATE blobs SET put_at = ? WHERE id = ?").run(now(), known.id);
        return true;
      }
      const id = extend(blob, chunks);
      if (id !== undefined) sql("UPDATE blobs SET digest = ? WHERE id = ?").run(digest, id);
      return id !== undefined;
    },
    ...createBlobReads(parts),
    ...createBlobRemoval(parts),
  };
}

function createBlobReads({ database: { sql } }: SqliteParts): Pick<BlobRows, "list" | "readInto"> {
  return {
    list(after, limit) {
      const rows = sql("SELECT digest FROM blobs WHERE digest > ? ORDER BY digest LIMIT ?").all(after, limit);
      return rows.map((row) => String(row["digest"]));
    },
    readInto(target, blob, offset) {
      const first = Math.floor(offset / chunkBytes);
      const last = Math.floor((offset + target.length - 1) / chunkBytes);
      const from = blob * chunksPerBlob;
      const rows = sql("SELECT bytes FROM chunks WHERE id BETWEEN ? AND ? ORDER BY id").all(from + first, from + last);
      for (const [index, row] of rows.entries()) {
        const start = (first + index) * chunkBytes - offset;
        const part = (row["bytes"] as Uint8Array).subarray(Math.max(-start, 0), target.length - start);
        target.set(part, Math.max(start, 0));
      }
      return rows.length === last - first + 1;
    },
  };
}

function createBlobRemoval(parts: SqliteParts): Pick<BlobRows, "discard" | "findAbandoned" | "removeSome"> {
  const { sql } = parts.database;

  function findAbandoned(): number | undefined {
    const before = Math.max(parts.life.now() - abandonedMs, 1);
    const row = sql("SELECT id FROM blobs WHERE digest IS NULL AND put_at < ? LIMIT 1").get(before);
    return row && Number(row["id"]);
  }

  return {
    findAbandoned,
    discard(keep, putBefore, failed) {
      const rows = sql("SELECT id, digest FROM blobs WHERE digest IS NOT NULL AND put_at <= ?").all(putBefore);
      const unwanted = rows.filter((row) => !keep.has(String(row["digest"])));
      const update = sql("UPDATE blobs SET digest = NULL, put_at = 0 WHERE id = ?");
      for (const row of unwanted) update.run(Number(row["id"]));
      for (const blob of failed) abandon(sql, blob);
      return unwanted.length;
    },
    removeSome() {
      const blob = findAbandoned();
      if (blob === undefined) return false;
      const from = blob * chunksPerBlob;
      const some = "SELECT id FROM chunks WHERE id >= ? AND id < ? LIMIT ?";
      const { changes } = sql(`DELETE FROM chunks WHERE id IN (${some})`).run(
        from,
        from + chunksPerBlob,
        removedAtOnce,
      );
      if (Number(changes) < removedAtOnce) sql("DELETE FROM blobs WHERE id = ?").run(blob);
      return true;
    },
  };
}

function abandon(sql: SqliteDatabase["sql"], blob: number): void {
  sql("UPDATE blobs SET put_at = 0 WHERE id = ? AND digest IS NULL").run(blob);
}

/** All chunks but the last of a blob have this size. */
const chunkBytes = 64 * 1024;

/** How many chunks are valid at the same time: the memory of an older one is used again. */
export const chunksAtOnce = 8;

/**
 * Cuts bytes, whole or in pieces, into chunks of one size; the last may be shorter. Pieces are copied, because their buffer may be
 * used again. `check` is called for each piece and may throw.
 *
 * @throws {KitbagError} `option-invalid` if it is not bytes.
 */
export async function* toChunks(
  source: Uint8Array | AsyncIterable<Uint8Array>,
  check: () => void,
): AsyncGenerator<Uint8Array> {
  if (isUint8Array(source)) {
    for (let offset = 0; offset < source.length; offset += chunkBytes) {
      check();
      yield source.subarray(offset, offset + chunkBytes);
    }
    return;
  }
  checkSource(source);
  const ring = Array.from({ length: chunksAtOnce }, () => new Uint8Array(0));
  let count = 0;
  let filled = 0;
  for await (const piece of source) {
    check();
    checkPiece(piece);
    for (let offset = 0; offset < piece.length;) {
      const chunk = takeBuffer(ring, count);
      const part = piece.subarray(offset, offset + chunkBytes - filled);
      chunk.set(part, filled);
      offset += part.length;
      filled += part.length;
      if (filled < chunkBytes) break;
      yield chunk;
      count += 1;
      filled = 0;
    }
  }
  if (filled > 0) yield takeBuffer(ring, count).subarray(0, filled);
}

/** Small blobs need one buffer, large ones all of them. */
function takeBuffer(ring: Uint8Array[], count: number): Uint8Array {
  const index = count % chunksAtOnce;
  const known = ring[index];
  if (known && known.length > 0) return known;
  return (ring[index] = new Uint8Array(chunkBytes));
}

/** A blob that is not what its digest says. */
interface BlobProblem {
  readonly where: string;
  readonly problem: string;
}

/** Reads every blob and compares it with its digest. */
export function checkBlobs(database: DatabaseSync): readonly BlobProblem[] {
  const rows = database.prepare("SELECT id, digest, size FROM blobs WHERE digest IS NOT NULL").all();
  const problems: BlobProblem[] = [];
  for (const row of rows) {
    const where = String(row["digest"]);
    if (digestOf(database, Number(row["id"]), Number(row["size"])) === where) continue;
    problems.push({ where, problem: "the bytes are not those that the digest stands for" });
  }
  const lost = database.prepare(
    `SELECT DISTINCT id / ${chunksPerBlob} AS blob FROM chunks WHERE id / ${chunksPerBlob} NOT IN (SELECT id FROM blobs)`,
  );
  return [
    ...problems,
    ...lost.all().map((row) => ({ where: `blob ${String(row["blob"])}`, problem: "it has no name" })),
  ];
}

/** The digest of the bytes that are there; `undefined` if they cannot be read, or are not all there. */
export function digestOf(database: DatabaseSync, blob: number, size: number): string | undefined {
  const hash = createHash("sha256");
  const chunk = database.prepare("SELECT bytes FROM chunks WHERE id = ?");
  for (let number = 0; number * chunkBytes < size; number++) {
    const bytes = chunk.get(blob * chunksPerBlob + number)?.["bytes"];
    if (!(bytes instanceof Uint8Array) || bytes.length !== Math.min(chunkBytes, size - number * chunkBytes))
      return undefined;
    hash.update(bytes);
  }
  return `sha256:${hash.digest("hex")}`;
}
