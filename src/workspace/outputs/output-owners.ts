import { KitbagError } from "../../core/errors.ts";
import { localUser } from "../../core/users.ts";
import type { KeyValueStore } from "../../core/store.ts";
import { toOwnerKey, type Users } from "../users.ts";

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
