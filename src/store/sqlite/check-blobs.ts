import { createHash } from "node:crypto";
import type { DatabaseSync } from "node:sqlite";

import { chunksPerBlob } from "./blob-rows.ts";
import { chunkBytes } from "./to-chunks.ts";

/** A blob that is not what its digest says. */
export interface BlobProblem {
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
