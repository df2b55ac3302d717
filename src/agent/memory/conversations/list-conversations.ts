import type { ListOptions, Store } from "../../../core/store.ts";
import { conversationPrefix, fromValue, isConversation, toKey } from "./kept-conversation.ts";

/** A conversation, as a list shows it. */
export interface ConversationSummary {
  readonly id: string;
  /** The beginning of what was asked first. */
  readonly title: string;
  /** Milliseconds since 1970: when its first run was kept, and its last. */
  readonly startedAt: number;
  readonly time: number;
  readonly runs: number;
  readonly messages: number;
  /** Set if what is kept of it cannot be read; nothing else is known of it then. */
  readonly isDamaged?: true;
}

/**
 * Lists the conversations that are kept in a store, in the order of their ids; 100 if nobody says how many.
 *
 * @example
 * ```ts
 * import { createWorkspace, memoryStore } from "kitbag";
 * import { createAgent, listConversations } from "kitbag/agent";
 *
 * const store = memoryStore();
 * const agent = createAgent({ model: "local", workspace: createWorkspace(), store });
 * await agent.run("Hello", { conversation: "ada" }).result;
 *
 * const [first] = await listConversations(store);
 * console.assert(first?.id === "ada" && first.title === "Hello" && first.runs === 1);
 * ```
 */
export async function listConversations(
  { kv }: Pick<Store, "kv">,
  { after, limit = 100 }: Omit<ListOptions, "prefix"> = {},
): Promise<readonly ConversationSummary[]> {
  const from = after === undefined || after === "" ? {} : { after: toKey(after) };
  const found = await kv.list({ prefix: conversationPrefix, limit, ...from });
  return found.map(([key, value]) => {
    const id = key.slice(conversationPrefix.length);
    // One that cannot be read does not hide the others.
    if (!isConversation(value.value))
      return { id, title: "", startedAt: 0, time: 0, runs: 0, messages: 0, isDamaged: true };
    const { title, startedAt, time, runs } = fromValue(id, value);
    const messages = runs.reduce((sum, run) => sum + run.messages, 0);
    return { id, title, startedAt, time, runs: runs.length, messages };
  });
}
