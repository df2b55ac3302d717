import { createHash, hash } from "node:crypto";
import { isUint8Array } from "node:util/types";

import type { BlobStore } from "../../core/store.ts";
import { checkKeep, checkList, checkPiece, checkSource, checkWhole } from "../checks.ts";
import { checkOpen } from "../store-life.ts";
import { createStatements, type Row } from "./postgres-link.ts";
import type { PostgresParts } from "./postgres-reader.ts";
import { nowMs } from "./postgres-schema.ts";

type BlobStatements = ReturnType<typeof blobStatements>;

interface BlobParts extends PostgresParts {
  readonly sql: BlobStatements;
  /** The contents that are being written. */
  readonly uploads: Set<string>;
}

/** Makes the `blobs` part of a Postgres store. */
export function postgresBlobs(parts: PostgresParts): BlobStore {
  const { life, reader } = parts;
  const sql = blobStatements(parts.schema);
  const uploads = new Set<string>();
  parts.onDrain(async () => {
    if (uploads.size > 0)
      await reader.write([...uploads].map((content) => sql("forget", content))).catch(() => undefined);
  });

  const upload = (source: AsyncIterable<Uint8Array>): Promise<string> => putPieces({ ...parts, sql, uploads }, source);

  return {
    async put(source) {
      checkOpen(life, "blobs.put");
      return isUint8Array(source) ? putBytes(parts, sql, source, upload) : upload(source);
    },
    async get(digest) {
      checkOpen(life, "blobs.get");
      return joinPieces(await reader.read(sql("get", String(digest))));
    },
    async slice(digest, offset, length) {
      checkWhole("offset", offset);
      checkWhole("length", length);
      checkOpen(life, "blobs.slice");
      const end = Math.min(offset + length, Number.MAX_SAFE_INTEGER);
      const rows = await reader.read(sql("slice", String(digest), offset, end));
      const skipped = offset % pieceBytes;
      return joinPieces(rows)?.slice(skipped, skipped + (end - offset));
    },
    async size(digest) {
      checkOpen(life, "blobs.size");
      const [row] = await reader.read(sql("size", String(digest)));
      return row && Number(row["size"]);
    },
    async list(options) {
      const { after, limit } = checkList(options);
      checkOpen(life, "blobs.list");
      const rows = await reader.read(sql("list", after, limit));
      return rows.map((row) => String(row["digest"]));
    },
    async collect(keep, options) {
      const { minAgeMs = 0 } = options ?? {};
      checkKeep(keep);
      checkWhole("minAgeMs", minAgeMs);
      checkOpen(life, "blobs.collect");
      const rows = await reader.read(sql("old", minAgeMs));
      const unwanted = rows.map((row) => String(row["digest"])).filter((digest) => !keep.has(digest));
      const [deleted = []] = await reader.write([sql("delete", unwanted, minAgeMs), sql("sweep")]);
      return deleted.length;
    },
  };
}

/** Writes bytes unless they are there. */
async function putBytes(
  { reader }: PostgresParts,
  sql: BlobStatements,
  source: Uint8Array,
  upload: (source: AsyncIterable<Uint8Array>) => Promise<string>,
): Promise<string> {
  // Copied before anything is awaited: its owner may use it again.
  const bytes = Buffer.from(source);
  const digest = `sha256:${hash("sha256", bytes)}`;
  const [known] = await reader.read(sql("touch", digest));
  return known ? digest : upload(onePiece(bytes));
}

async function* onePiece(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

/** Joins the pieces of a blob; a blob without any is one row. */
function joinPieces(rows: readonly Row[]): Uint8Array | undefined {
  if (rows.length === 0) return undefined;
  return new Uint8Array(Buffer.concat(rows.flatMap((row) => (row["bytes"] as Buffer | null) ?? [])));
}

/** Writes pieces as they arrive, under a number, and names them by their digest at the end: readers never see a partial blob. */
async function putPieces(
  { life, reader, sql, uploads }: BlobParts,
  source: AsyncIterable<Uint8Array>,
): Promise<string> {
  checkSource(source);
  const [start] = await reader.read(sql("begin"));
  const content = String(start?.["content"]);
  uploads.add(content);
  const digest = createHash("sha256");
  let size = 0;
  let number = 0;
  try {
    for await (const bytes of toEvenPieces(source, () => checkOpen(life, "blobs.put"))) {
      digest.update(bytes);
      size += bytes.length;
      await reader.write([sql("piece", content, number, bytes)]);
      number += 1;
    }
    checkOpen(life, "blobs.put");
    const name = `sha256:${digest.digest("hex")}`;
    await reader.write([sql("finish", name, content, size), sql("forgetDouble", content), sql("endUpload", content)]);
    return name;
  } catch (cause) {
    // Only what is still an upload is taken out: the last write may have happened, though its answer was lost.
    await reader.write([sql("forget", content)]).catch(() => undefined);
    throw cause;
  } finally {
    uploads.delete(content);
  }
}

/** Makes pieces of the size in which they are kept of those that come, whatever theirs is. */
async function* toEvenPieces(source: AsyncIterable<Uint8Array>, check: () => void): AsyncGenerator<Buffer> {
  let rest: Buffer[] = [];
  let size = 0;
  for await (const piece of source) {
    check();
    checkPiece(piece);
    rest.push(Buffer.from(piece));
    size += piece.length;
    if (size < pieceBytes) continue;
    const all = Buffer.concat(rest);
    let offset = 0;
    for (; size - offset >= pieceBytes; offset += pieceBytes) yield all.subarray(offset, offset + pieceBytes);
    rest = [all.subarray(offset)];
    size -= offset;
  }
  if (size > 0) yield Buffer.concat(rest);
}

/** How large the pieces are in which a blob is kept; the last one may be smaller. Part of the schema. */
const pieceBytes = 256 * 1024;

/** After so long an upload that was never finished is given up: its process is gone. */
const uploadHours = 24;

/** Makes the statements for the tables of `schema`. */
function blobStatements(schema: string) {
  const blobs = `${schema}.blobs`;
  const pieces = `${schema}.blob_pieces`;
  const uploads = `${schema}.blob_uploads`;
  return createStatements("blob", {
    begin: `INSERT INTO ${uploads} VALUES (nextval('${schema}.blob_content'), ${nowMs}) RETURNING content`,
    piece: `INSERT INTO ${pieces} (content, number, bytes) VALUES ($1, $2, $3)`,
    finish: `INSERT INTO ${blobs} AS blob (digest, content, size, put_at) VALUES ($1, $2, $3, ${nowMs})
      ON CONFLICT (digest) DO UPDATE SET put_at = greatest(blob.put_at, EXCLUDED.put_at)`,
    forgetDouble: `DELETE FROM ${pieces} WHERE content = $1 AND NOT EXISTS (SELECT FROM ${blobs} WHERE content = $1)`,
    endUpload: `DELETE FROM ${uploads} WHERE content = $1`,
    forget: `WITH gone AS (DELETE FROM ${uploads} WHERE content = $1 RETURNING content)
      DELETE FROM ${pieces} WHERE content IN (SELECT content FROM gone)`,
    touch: `UPDATE ${blobs} SET put_at = greatest(put_at, ${nowMs}) WHERE digest = $1 RETURNING digest`,
    get: `SELECT piece.bytes FROM ${blobs} AS blob LEFT JOIN ${pieces} AS piece ON piece.content = blob.content
      WHERE blob.digest = $1 ORDER BY piece.number`,
    slice: `SELECT piece.bytes FROM ${blobs} AS blob LEFT JOIN ${pieces} AS piece
        ON piece.content = blob.content AND piece.number >= $2::bigint / ${pieceBytes} AND piece.number::bigint * ${pieceBytes} < $3::bigint
      WHERE blob.digest = $1 ORDER BY piece.number`,
    size: `SELECT size FROM ${blobs} WHERE digest = $1`,
    list: `SELECT digest FROM ${blobs} WHERE digest > $1 ORDER BY digest LIMIT $2`,
    old: `SELECT digest FROM ${blobs} WHERE put_at <= ${nowMs} - $1::bigint`,
    delete: `WITH gone AS (
        DELETE FROM ${blobs} WHERE digest = ANY($1::text[]) AND put_at <= ${nowMs} - $2::bigint RETURNING digest, content),
      emptied AS (DELETE FROM ${pieces} WHERE content IN (SELECT content FROM gone))
      SELECT digest FROM gone`,
    sweep: `WITH gone AS (DELETE FROM ${uploads} WHERE started_at <= ${nowMs} - ${uploadHours * 3_600_000} RETURNING content)
      DELETE FROM ${pieces} WHERE content IN (SELECT content FROM gone)`,
  });
}
