import { KitbagError } from "../core/errors.ts";

const ownedPrefix = "user:";

/**
 * The id of a user's conversation in the store: those of different users never meet.
 *
 * @throws {KitbagError} `request-refused` if the name is not one that this user can give.
 */
export function toConversationId(owner: string | undefined, name: string): string {
  const isOthers = owner === undefined && name.startsWith(ownedPrefix);
  if (isOthers || !name.isWellFormed()) {
    const reason = isOthers ? `no conversation can begin with ${ownedPrefix}` : "the conversation is not Unicode text";
    throw new KitbagError("request-refused", { status: 422, reason: `${reason}; use another name` });
  }
  return owner === undefined ? name : `${prefixOf(owner)}${encodeURIComponent(name)}`;
}

/** The name that a user has given a conversation; nothing if it is not theirs. */
export function toConversationName(owner: string | undefined, id: string): string | undefined {
  if (owner === undefined) return id.startsWith(ownedPrefix) ? undefined : id;
  if (!id.startsWith(prefixOf(owner))) return undefined;
  try {
    return decodeURIComponent(id.slice(prefixOf(owner).length));
  } catch {
    // Not an id that this file has made.
    return undefined;
  }
}

/** With what the ids of a user's conversations begin. */
export function prefixOf(owner: string): string {
  return `${ownedPrefix}${encodeURIComponent(owner)}:`;
}
