import type { ListOptions, Store } from "../../../core/store.ts";
import type { ModelMessage } from "../../../models/model.ts";
import type { RunResult } from "../../run-result.ts";
import { conversationPrefix, fromValue, isConversation, readPart, toKey, toPartKey } from "./kept-conversation.ts";

/** A run of a conversation, and what it added. */
export interface ConversationRun {
  readonly run: string;
  readonly status: RunResult["status"];
  readonly messages: readonly ModelMessage[];
}

/** A conversation that is kept. */
export interface Conversation {
  readonly id: string;
  /** The beginning of what was asked first. */
  readonly title: string;
  /** Milliseconds since 1970: when its first run was kept, and its last. */
  readonly startedAt: number;
  readonly time: number;
  /** In the order in which they ended. */
  readonly runs: readonly ConversationRun[];
  /** All messages, also those that the model is no longer shown. */
  readonly messages: readonly ModelMessage[];
  /** Skills that were open at the end. */
  readonly skills: readonly string[];
}

/**
 * Reads a conversation; `undefined` if the store does not have it.
 *
 * @throws {KitbagError} `option-invalid` if the id is invalid; `conversation-damaged` if the stored conversation cannot be read.
 *
 * @example
 * ```ts
 * import { createWorkspace, memoryStore } from "kitbag";
 * import { createAgent, readConversation } from "kitbag/agent";
 *
 * const store = memoryStore();
 * const agent = createAgent({ model: "local", workspace: createWorkspace(), store });
 * await agent.run("Hello", { conversation: "ada" });
 * await agent.run("How are you?", { conversation: "ada" });
 *
 * const conversation = await readConversation(store, "ada");
 * console.assert(conversation?.messages.map(({ role }) => role).join() === "user,assistant,user,assistant");
 * ```
 */
export async function readConversation(store: Pick<Store, "kv">, id: string): Promise<Conversation | undefined> {
  const found = await store.kv.get(toKey(id));
  if (found === undefined) return undefined;
  const { title, startedAt, time, runs: kept } = fromValue(id, found);
  const parts = await Promise.all(kept.map(({ part }) => readPart(store, id, part)));
  const runs = kept.map(({ run, status }, index) => ({ run, status, messages: parts[index]?.messages ?? [] }));
  const messages = runs.flatMap((run) => run.messages);
  return { id, title, startedAt, time, runs, messages, skills: parts.at(-1)?.skills ?? [] };
}

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
 * Lists the conversations that are kept in a store, in the order of their ids; at most 100 unless a limit is given.
 *
 * @example
 * ```ts
 * import { createWorkspace, memoryStore } from "kitbag";
 * import { createAgent, listConversations } from "kitbag/agent";
 *
 * const store = memoryStore();
 * const agent = createAgent({ model: "local", workspace: createWorkspace(), store });
 * await agent.run("Hello", { conversation: "ada" });
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

/** A part is a UUID. */
const partLength = 36;

/**
 * Deletes a conversation, and answers whether it existed. The journals of its runs stay. A run that is still going on saves its
 * messages when it ends, and so creates the conversation again.
 *
 * @throws {KitbagError} `option-invalid` if the id is invalid.
 *
 * @example
 * ```ts
 * import { createWorkspace, memoryStore } from "kitbag";
 * import { createAgent, deleteConversation, readConversation } from "kitbag/agent";
 *
 * const store = memoryStore();
 * const agent = createAgent({ model: "local", workspace: createWorkspace(), store });
 * await agent.run("Hello", { conversation: "ada" });
 *
 * console.assert(await deleteConversation(store, "ada"));
 * console.assert((await readConversation(store, "ada")) === undefined);
 * ```
 */
export async function deleteConversation({ kv }: Pick<Store, "kv">, id: string): Promise<boolean> {
  const isThere = await kv.delete(toKey(id));
  const prefix = toPartKey(id);
  let after: string | undefined;
  for (;;) {
    const found = await kv.list({ prefix, ...(after !== undefined && { after }) });
    const last = found.at(-1);
    if (last === undefined) return isThere;
    [after] = last;
    // The id of another conversation may begin like this one, with a colon behind.
    const own = found.filter(([key]) => key.length === prefix.length + partLength);
    await Promise.all(own.map(([key]) => kv.delete(key)));
  }
}
