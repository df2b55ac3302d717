import { openConversation } from "../../../agent/memory/conversations/open-conversation.ts";
import { readConversation } from "../../../agent/memory/conversations/read-conversation.ts";
import type { Store } from "../../../core/store.ts";
import { usageError } from "../../usage-error.ts";
import type { Chat } from "./chat.ts";

/**
 * Saves what was said so far under a name; from then on the agent itself saves what follows.
 *
 * @throws {KitbagError} `usage-invalid` if there is another conversation of this name.
 */
export async function saveConversation(
  store: Store,
  id: string,
  { messages, session, lastRun }: Pick<Chat, "messages" | "session" | "lastRun">,
): Promise<void> {
  const conversation = await openConversation(store, id);
  if (conversation.messages.length > 0) {
    throw usageError(`Cannot save the conversation as ${id}: there is another one of this name; take another name`);
  }
  if (messages.length === 0) return;
  const skills = session.getActiveSkills();
  await conversation.save({ run: lastRun?.id ?? id, status: "ok", messages, skills, view: undefined });
}

/** Saves which skills are open now, as it was at the end of the last run. */
export async function saveConversationSkills(store: Store, id: string, skills: readonly string[]): Promise<void> {
  const last = (await readConversation(store, id))?.runs.at(-1);
  if (last === undefined) return;
  await (await openConversation(store, id)).save({ ...last, skills, view: undefined });
}
