import type { Store } from "../../../core/store.ts";
import { toKey, toPartKey } from "./kept-conversation.ts";

/** A part is a UUID. */
const partLength = 36;

/**
 * Deletes a conversation, and answers whether there was one. The journals of its runs stay. A run that is still going on keeps what it
 * adds, so that there is a conversation again when it ends.
 *
 * @throws {KitbagError} `option-invalid` if the id is none.
 *
 * @example
 * ```ts
 * import { createWorkspace, memoryStore } from "kitbag";
 * import { createAgent, deleteConversation, readConversation } from "kitbag/agent";
 *
 * const store = memoryStore();
 * const agent = createAgent({ model: "local", workspace: createWorkspace(), store });
 * await agent.run("Hello", { conversation: "ada" }).result;
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
