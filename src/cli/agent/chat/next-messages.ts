import type { ModelMessage } from "../../../models/model.ts";

/**
 * What of a conversation the next request goes on with. After a run that was stopped or failed, calls may have no results and a
 * request no answer: no provider takes such a conversation, so they are left out.
 */
export function toNextMessages(messages: readonly ModelMessage[]): readonly ModelMessage[] {
  const last = messages.at(-1);
  if (last === undefined) return [];
  if (last.role === "user") return messages.slice(0, -1);
  if (last.role !== "assistant") return messages;
  const content = last.content.filter((part) => part.type !== "tool-call");
  if (content.length === last.content.length) return messages;
  const before = messages.slice(0, -1);
  return content.some((part) => part.type === "text") ? [...before, { ...last, content }] : toNextMessages(before);
}
