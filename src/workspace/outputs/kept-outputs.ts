import { hash } from "node:crypto";

import type { BlobStore, KeyValueStore } from "../../core/store.ts";
import { KitbagError } from "../../core/errors.ts";
import { localUser } from "../../core/scopes.ts";
import { toOwnerKey, type Users } from "../users.ts";

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

/** Who reads an output that is kept. */
export interface OutputReader {
  /** A user, who finds only what was kept for them. @default the program, which finds everything */
  readonly user?: string | undefined;
}

/** Knows for whom outputs are kept: a handle is made of the bytes, so several users may have the same one. */
export interface OutputOwners {
  /** Whether it is noted that an output is kept for `user`. */
  has(digest: string, user: string): Promise<boolean>;
  /** Notes that an output is kept for `user`; a call without a user notes nothing. */
  note(digest: string, user: string | undefined): Promise<void>;
  /** @throws {KitbagError} `output-missing` if nothing is kept for the reader, as if there were nothing at all. */
  check(digest: string, reader: OutputReader): Promise<void>;
}

/** The keys that name the outputs of one owner, each followed by a digest. */
export function toOwnedPrefix(owner: string): string {
  return `output-of:${owner}:`;
}

/** Makes the owners that are kept in `kv`. What no user is noted for is the local user's: it may be older than the notes. */
export function createOutputOwners(kv: KeyValueStore, users: Users): OutputOwners {
  const toPrefix = (digest: string): string => `output-owner:${digest}:`;
  const keyOf = (user: string): string => toOwnerKey(users.ownerOf(user) ?? localUser);
  const has = async (digest: string, user: string): Promise<boolean> =>
    (await kv.get(toPrefix(digest) + keyOf(user))) !== undefined;

  return {
    has,
    async note(digest, user) {
      if (user === undefined) return;
      const owner = keyOf(user);
      // By user first: what is kept is counted.
      await kv.set(toOwnedPrefix(owner) + digest, true, { durable: false });
      await kv.set(toPrefix(digest) + owner, true);
    },
    async check(digest, reader) {
      const { user } = reader;
      if (user === undefined || (await has(digest, user))) return;
      const isLocal = users.ownerOf(user) === undefined;
      if (isLocal && (await kv.list({ prefix: toPrefix(digest), limit: 1 })).length === 0) return;
      throw new KitbagError("output-missing", { handle: `output:${digest}` });
    },
  };
}
