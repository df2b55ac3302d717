import { isUint8Array } from "node:util/types";

import type { BlobStore } from "../../core/store.ts";
import { checkKeep } from "../check-blob.ts";
import { checkList } from "../check-list.ts";
import { checkWhole } from "../check-whole.ts";
import { checkOpen } from "../store-life.ts";
import { createBlobRows, type BlobRows } from "./blob-rows.ts";
import { putBlob, type PutPlace } from "./put-blob.ts";
import { read, type SqliteParts } from "./sqlite-parts.ts";

/** How much is read at once: reading holds up the event loop. */
const readAtOnce = 4 * 1024 * 1024;

/** The `blobs` part of an SQLite store, and how it gets rid of what is not complete. */
export interface SqliteBlobs {
  readonly blobs: BlobStore;
  /** Removes what nobody works on any more. */
  clean(): Promise<void>;
  /** Gives up what is being put: nobody will go on with it. */
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
