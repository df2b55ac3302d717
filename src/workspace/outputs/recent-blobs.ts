import { hash } from "node:crypto";

import type { BlobStore } from "../../core/store.ts";

/** What outputs are kept in. */
export type OutputBlobs = Pick<BlobStore, "put" | "size" | "slice">;

/** Makes a place in memory for bytes: the latest are there, up to `maxBytes` of them, and always the very last. */
export function createRecentBlobs(maxBytes: number): OutputBlobs {
  // In the order in which they were put last.
  const blobs = new Map<string, Uint8Array>();
  let total = 0;

  function forget(digest: string): void {
    total -= blobs.get(digest)?.length ?? 0;
    blobs.delete(digest);
  }

  return {
    async put(source) {
      const bytes = source as Uint8Array;
      const digest = `sha256:${hash("sha256", bytes)}`;
      forget(digest);
      blobs.set(digest, bytes);
      total += bytes.length;
      for (const oldest of blobs.keys()) {
        if (total <= maxBytes || oldest === digest) break;
        forget(oldest);
      }
      return digest;
    },
    size: async (digest) => blobs.get(digest)?.length,
    slice: async (digest, offset, length) => blobs.get(digest)?.subarray(offset, offset + length),
  };
}
