import { hash } from "node:crypto";
import { isUint8Array } from "node:util/types";

import type { BlobStore } from "../core/store.ts";
import { checkKeep, checkPiece, checkSource } from "./check-blob.ts";
import { checkList } from "./check-list.ts";
import { checkWhole } from "./check-whole.ts";
import { checkOpen, type StoreLife } from "./store-life.ts";

interface Blob {
  readonly bytes: Uint8Array;
  /** By the clock of the store: when it was put last. */
  putAt: number;
}

/** Makes the `blobs` part of a memory store. */
export function memoryBlobs(life: StoreLife): BlobStore {
  const blobs = new Map<string, Blob>();

  return {
    async put(source) {
      const bytes = isUint8Array(source) ? new Uint8Array(source) : await readAll(life, source);
      const putAt = life.now();
      checkOpen(life, "blobs.put");
      const digest = `sha256:${hash("sha256", bytes)}`;
      const known = blobs.get(digest);
      if (known) known.putAt = putAt;
      else blobs.set(digest, { bytes, putAt });
      return digest;
    },
    async get(digest) {
      checkOpen(life, "blobs.get");
      const blob = blobs.get(digest);
      return blob && new Uint8Array(blob.bytes);
    },
    async slice(digest, offset, length) {
      checkWhole("offset", offset);
      checkWhole("length", length);
      checkOpen(life, "blobs.slice");
      return blobs.get(digest)?.bytes.slice(offset, offset + length);
    },
    async size(digest) {
      checkOpen(life, "blobs.size");
      return blobs.get(digest)?.bytes.length;
    },
    async list(options) {
      const { after, limit } = checkList(options);
      checkOpen(life, "blobs.list");
      const digests = [...blobs.keys()].filter((digest) => digest > after);
      return digests.toSorted().slice(0, limit);
    },
    async collect(keep, options) {
      const { minAgeMs = 0 } = options ?? {};
      checkKeep(keep);
      checkWhole("minAgeMs", minAgeMs);
      const putBefore = life.now() - minAgeMs;
      checkOpen(life, "blobs.collect");
      const unwanted = [...blobs].filter(([digest, { putAt }]) => putAt <= putBefore && !keep.has(digest));
      for (const [digest] of unwanted) blobs.delete(digest);
      return unwanted.length;
    },
  };
}

async function readAll(life: StoreLife, source: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  checkSource(source);
  const pieces: Uint8Array[] = [];
  for await (const piece of source) {
    checkOpen(life, "blobs.put");
    checkPiece(piece);
    pieces.push(new Uint8Array(piece));
  }
  return new Uint8Array(Buffer.concat(pieces));
}
