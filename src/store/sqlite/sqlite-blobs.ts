import { createHash } from "node:crypto";
import { isUint8Array } from "node:util/types";

import { KitbagError } from "../../core/errors.ts";
import type { BlobStore } from "../../core/store.ts";
import { checkKeep, checkList, checkWhole } from "../checks.ts";
import { checkOpen } from "../store-life.ts";
import { type BlobRows, chunksAtOnce, createBlobRows, toChunks } from "./blob-rows.ts";
import { read, type SqliteParts } from "./sqlite-parts.ts";

/** How much is read at once: reading holds up the event loop. */
const readAtOnce = 4 * 1024 * 1024;

/** The `blobs` part of an SQLite store, and how it gets rid of what is not complete. */
export interface SqliteBlobs {
  readonly blobs: BlobStore;
  /** Removes abandoned uploads. */
  clean(): Promise<void>;
  /** Marks all uploads in progress as abandoned. */
  abandonAll(): void;
}

/** Makes the `blobs` part of an SQLite store. */
export function sqliteBlobs(parts: SqliteParts): SqliteBlobs {
  const { life, writer } = parts;
  const rows = createBlobRows(parts);
  const incomplete: PutPlace["incomplete"] = new Map();

  const clean = (): Promise<void> => removeAbandoned(parts, rows);

  const blobs: BlobStore = {
    async put(source) {
      const bytes = isUint8Array(source) ? new Uint8Array(source) : source;
      checkOpen(life, "blobs.put");
      return putBlob({ ...parts, rows, incomplete, clean }, bytes);
    },
    async get(digest) {
      checkOpen(life, "blobs.get");
      return readPart(parts, rows, digest);
    },
    async slice(digest, offset, length) {
      checkWhole("offset", offset);
      checkWhole("length", length);
      checkOpen(life, "blobs.slice");
      return readPart(parts, rows, digest, { offset, length });
    },
    async size(digest) {
      checkOpen(life, "blobs.size");
      return read(parts, "blobs.size", () => rows.find(digest)?.size, "blobs");
    },
    async list(options) {
      const { after, limit } = checkList(options);
      checkOpen(life, "blobs.list");
      return read(parts, "blobs.list", () => rows.list(after, limit), "blobs");
    },
    async collect(keep, options) {
      const { minAgeMs = 0 } = options ?? {};
      checkKeep(keep);
      checkWhole("minAgeMs", minAgeMs);
      const putBefore = life.now() - minAgeMs;
      checkOpen(life, "blobs.collect");
      const failed = [...incomplete.keys()].filter((blob) => incomplete.get(blob) === "failed");
      const count = await writer.write("blobs", () => rows.discard(keep, putBefore, failed));
      await clean();
      return count;
    },
  };
  return {
    blobs,
    clean,
    abandonAll() {
      for (const blob of incomplete.keys()) writer.write("blobs", () => rows.abandon(blob)).catch(() => undefined);
    },
  };
}

async function removeAbandoned(parts: SqliteParts, rows: BlobRows): Promise<void> {
  const blob = await read(parts, "blobs.collect", rows.findAbandoned, "blobs");
  if (blob === undefined) return;
  while (await parts.writer.write("blobs", rows.removeSome));
}

async function readPart(
  parts: SqliteParts,
  rows: BlobRows,
  digest: string,
  { offset, length } = { offset: 0, length: Number.MAX_SAFE_INTEGER },
): Promise<Uint8Array | undefined> {
  const blob = await read(parts, "blobs.get", () => rows.find(digest), "blobs");
  if (!blob) return undefined;
  const end = Math.min(offset + length, blob.size);
  const bytes = new Uint8Array(Math.max(end - offset, 0));
  for (let from = 0; from < bytes.length; from += readAtOnce) {
    const part = bytes.subarray(from, from + readAtOnce);
    const isThere = await read(parts, "blobs.get", () => rows.readInto(part, blob.id, offset + from), "blobs");
    // It was collected meanwhile.
    if (!isThere) return undefined;
    if (bytes.length > readAtOnce) await nextTurn();
  }
  return bytes;
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}

/** What {@link putBlob} works with. */
interface PutPlace extends SqliteParts {
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
async function putBlob(place: PutPlace, source: Uint8Array | AsyncIterable<Uint8Array>): Promise<string> {
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
