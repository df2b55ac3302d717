import { createHash } from "node:crypto";

import { KitbagError } from "../../core/errors.ts";
import { checkOpen } from "../store-life.ts";
import type { BlobRows } from "./blob-rows.ts";
import type { SqliteParts } from "./sqlite-parts.ts";
import { chunksAtOnce, toChunks } from "./to-chunks.ts";

/** What {@link putBlob} works with. */
export interface PutPlace extends SqliteParts {
  readonly rows: BlobRows;
  /** Blobs that this process puts, or could not give up when it had failed: they are given up later. */
  readonly incomplete: Map<number, "putting" | "failed">;
  /** Removes what was given up. */
  clean(): Promise<void>;
}

/**
 * Writes bytes as they come, so that they are never in memory as a whole. They get their digest, and can be found, only with the
 * last one; a failure before, or a blob that has the same, takes them away.
 */
export async function putBlob(place: PutPlace, source: Uint8Array | AsyncIterable<Uint8Array>): Promise<string> {
  const { life, writer, rows, incomplete } = place;
  const hash = createHash("sha256");
  const waiting: Uint8Array[] = [];
  let blob: number | undefined;

  async function writeWaiting(): Promise<void> {
    const known = blob;
    const chunks = waiting.splice(0);
    blob = await writer.write("blobs", () => rows.extend(known, chunks) ?? refuse(place), { bytes: toBytes(chunks) });
    incomplete.set(blob, "putting");
  }

  try {
    for await (const chunk of toChunks(source, () => checkOpen(life, "blobs.put"))) {
      hash.update(chunk);
      waiting.push(chunk);
      if (waiting.length === chunksAtOnce) await writeWaiting();
    }
    checkOpen(life, "blobs.put");
    const digest = `sha256:${hash.digest("hex")}`;
    await writer.write("blobs", () => rows.complete(blob, waiting, digest) || refuse(place), {
      bytes: toBytes(waiting),
    });
    if (blob !== undefined) {
      incomplete.delete(blob);
      // The bytes are kept: if this fails, the next store that is opened does it.
      await place.clean().catch(() => undefined);
    }
    return digest;
  } catch (cause) {
    if (blob !== undefined) await giveUp(place, blob);
    throw cause;
  }
}

async function giveUp({ database, writer, rows, incomplete, clean }: PutPlace, blob: number): Promise<void> {
  incomplete.set(blob, "failed");
  if (!database.isOpen()) return;
  try {
    await writer.write("blobs", () => rows.abandon(blob));
    incomplete.delete(blob);
    await clean();
  } catch {
    // It is tried again when blobs are collected, or the store is opened.
  }
}

function toBytes(chunks: readonly Uint8Array[]): number {
  return chunks.reduce((sum, { length }) => sum + length, 0);
}

function refuse({ database }: SqliteParts): never {
  throw new KitbagError("store-unavailable", {
    store: database.file,
    reason: "nothing came of a blob for an hour, so what was there of it was removed",
    cure: "put it again",
    mayBeWritten: false,
  });
}
