import { hash } from "node:crypto";

import { localUser } from "../core/scopes.ts";

/** Says who owns what a user keeps. */
export interface Users {
  /** The owner of what `user` keeps; nothing for the local user, who is also the user of a call that names none. */
  ownerOf(user: string | undefined): string | undefined;
}

/** Makes the look-up of owners. The local user is `"local"`, and has `alias` as another name. */
export function createUsers(alias: string | undefined): Users {
  return { ownerOf: (user) => (user === localUser || user === alias ? undefined : user) };
}

const simpleName = /^[\w.@+-]{1,64}$/u;

/**
 * The name of an owner as a part of a key: it has no ":" and is short, whatever the name is. Two names have two keys, also if they
 * only look alike.
 */
export function toOwnerKey(owner: string): string {
  // UTF-16, since UTF-8 has the same bytes for all unpaired surrogates.
  return simpleName.test(owner) ? owner : `~${hash("sha256", Buffer.from(owner, "utf16le"))}`;
}
