import { nowMs } from "./kv-statements.ts";
import type { Statement } from "./postgres-link.ts";

/** How large the pieces are in which a blob is kept; the last one may be smaller. Part of the schema. */
export const pieceBytes = 256 * 1024;

/** After so long an upload that was never finished is given up: its process is gone. */
const uploadHours = 24;

/** What `blobs` asks of the server. */
export interface BlobStatements {
  /** Begins an upload: answers with the number of its content. */
  begin(): Statement;
  piece(content: string, number: number, bytes: Uint8Array): Statement;
  /** Gives the content its digest, unless there is one that has it. */
  finish(digest: string, content: string, size: number): Statement;
  /** Takes out the pieces of a content that did not become a blob. */
  forgetDouble(content: string): Statement;
  endUpload(content: string): Statement;
  /** Takes out an upload and its pieces, if it is still one. */
  forget(content: string): Statement;
  /** Notes that a blob was put again, if it is there. */
  touch(digest: string): Statement;
  get(digest: string): Statement;
  /** The pieces that have a byte from `offset` to `end`; one row without bytes if there is none. */
  slice(digest: string, offset: number, end: number): Statement;
  size(digest: string): Statement;
  list(after: string, limit: number): Statement;
  /** Those that were put so long ago. */
  old(minAgeMs: number): Statement;
  delete(digests: readonly string[], minAgeMs: number): Statement;
  /** Takes out uploads that nobody will finish. */
  sweep(): Statement;
}

/** Makes the statements for the tables of `schema`. */
export function blobStatements(schema: string): BlobStatements {
  const blobs = `${schema}.blobs`;
  const pieces = `${schema}.blob_pieces`;
  const uploads = `${schema}.blob_uploads`;
  const texts = {
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
  };
  const make =
    (name: keyof typeof texts) =>
    (...values: readonly unknown[]): Statement => ({ name: `blob-${name}`, text: texts[name], values });

  return {
    begin: make("begin"),
    piece: make("piece"),
    finish: make("finish"),
    forgetDouble: make("forgetDouble"),
    endUpload: make("endUpload"),
    forget: make("forget"),
    touch: make("touch"),
    get: make("get"),
    slice: make("slice"),
    size: make("size"),
    list: make("list"),
    old: make("old"),
    delete: make("delete"),
    sweep: make("sweep"),
  };
}
