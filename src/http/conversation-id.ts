const ownedPrefix = "user:";

/** The id of a user's conversation in the store: those of different users never meet. */
export function toConversationId(owner: string | undefined, name: string): string {
  return owner === undefined ? name : `${prefixOf(owner)}${encodeURIComponent(name)}`;
}

/** The name that a user has given a conversation; nothing if it is not theirs. */
export function toConversationName(owner: string | undefined, id: string): string | undefined {
  if (owner === undefined) return id.startsWith(ownedPrefix) ? undefined : id;
  return id.startsWith(prefixOf(owner)) ? decodeURIComponent(id.slice(prefixOf(owner).length)) : undefined;
}

/** With what the ids of a user's conversations begin. */
export function prefixOf(owner: string): string {
  return `${ownedPrefix}${encodeURIComponent(owner)}:`;
}
