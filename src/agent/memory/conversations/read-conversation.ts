import type { Store } from "../../../core/store.ts";
import type { ModelMessage } from "../../../models/model.ts";
import type { RunResult } from "../../run-result.ts";
import { fromValue, readPart, toKey } from "./kept-conversation.ts";

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
  /** All of them, also those that a model is not shown any more. */
  readonly messages: readonly ModelMessage[];
  /** Skills that were open at the end. */
  readonly skills: readonly string[];
}

/**
 * Reads a conversation; `undefined` if there is none.
 *
 * @throws {KitbagError} `option-invalid` if the id is none; `conversation-damaged` if what is kept of it cannot be read.
 *
 * @example
 * ```ts
 * import { createWorkspace, memoryStore } from "kitbag";
 * import { createAgent, readConversation } from "kitbag/agent";
 *
 * const store = memoryStore();
 * const agent = createAgent({ model: "local", workspace: createWorkspace(), store });
 * await agent.run("Hello", { conversation: "ada" }).result;
 * await agent.run("How are you?", { conversation: "ada" }).result;
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
