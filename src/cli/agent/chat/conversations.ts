import { fromKeptMessage } from "../../../agent/log/kept-files.ts";
import type { JsonObject } from "../../../core/json.ts";
import type { Store } from "../../../core/store.ts";
import type { ModelMessage } from "../../../models/model.ts";
import { renderJsonLine } from "../../printable.ts";
import { usageError } from "../../usage-error.ts";

/** A conversation that was saved. */
export interface SavedConversation {
  readonly messages: readonly ModelMessage[];
  /** Skills that were open. */
  readonly skills: readonly string[];
}

/** Saves a conversation under a name, in the place of the one that was there. */
export async function saveConversation(
  store: Store,
  id: string,
  { messages, skills }: SavedConversation,
): Promise<void> {
  const kept = JSON.parse(renderJsonLine({ messages, skills })) as JsonObject;
  await store.kv.set(toKey(id), { ...kept, time: Date.now() });
}

/** Loads a conversation; nothing if there is none of this name. */
export async function loadConversation(store: Store, id: string): Promise<SavedConversation | undefined> {
  const found = await store.kv.get(toKey(id));
  if (found === undefined) return undefined;
  const { messages = [], skills = [] } = found.value as unknown as Partial<SavedConversation>;
  return { messages: messages.map(fromKeptMessage), skills };
}

/** The ids that a conversation may have. @throws {KitbagError} `usage-invalid` */
export function checkConversationId(id: string): string {
  if (/^[\w.@:-]{1,100}$/u.test(id)) return id;
  throw usageError(
    `Cannot use ${JSON.stringify(id)} as the name of a conversation: use letters, digits, . _ - : @, at most 100`,
  );
}

function toKey(id: string): string {
  return `chat:${id}`;
}
