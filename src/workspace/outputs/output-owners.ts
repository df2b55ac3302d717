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
  /** Notes that an output is kept for `user`; a call without a user notes nothing. */
  note(digest: string, user: string | undefined): Promise<void>;
  /** @throws {KitbagError} `output-missing` if nothing is kept for the reader, as if there were nothing at all. */
  check(digest: string, reader: OutputReader): Promise<void>;
}

/** Makes the owners that are kept in `kv`. What no user is noted for is the local user's: it may be older than the notes. */
export function createOutputOwners(kv: KeyValueStore, users: Users): OutputOwners {
  const toPrefix = (digest: string): string => `output-owner:${digest}:`;
  const toKey = (digest: string, user: string): string =>
    toPrefix(digest) + toOwnerKey(users.ownerOf(user) ?? localUser);

  return {
    async note(digest, user) {
      if (user !== undefined) await kv.set(toKey(digest, user), true);
    },
    async check(digest, reader) {
      const { user } = reader;
      if (user === undefined || (await kv.get(toKey(digest, user))) !== undefined) return;
      const isLocal = users.ownerOf(user) === undefined;
      if (isLocal && (await kv.list({ prefix: toPrefix(digest), limit: 1 })).length === 0) return;
      throw new KitbagError("output-missing", { handle: `output:${digest}` });
    },
  };
}
