import type { ModelContent } from "../../models/model.ts";
import type { RunState } from "./run-state.ts";

type ToolCall = Extract<ModelContent, { readonly type: "tool-call" }>;

/**
 * Gives every call of an answer an id that no other call of the conversation has, and an input that is text. Small models and the
 * servers in front of them repeat ids, or leave them out, and no provider takes such a conversation.
 */
export function tidyContent(run: RunState, content: readonly ModelContent[]): readonly ModelContent[] {
  if (!content.some(isOurs)) return content;
  let index = 0;
  return content.map((item) => (isOurs(item) ? tidyCall(run, item, index++) : item));
}

function isOurs(item: ModelContent): item is ToolCall {
  return item.type === "tool-call" && item.providerExecuted !== true;
}

function tidyCall(run: RunState, call: ToolCall, index: number): ToolCall {
  const { toolCallId, toolName, input } = call as { toolCallId: unknown; toolName: unknown; input: unknown };
  const id = toNewId(run, toolCallId, index);
  if (id === toolCallId && typeof toolName === "string" && typeof input === "string") return call;
  const text = typeof input === "string" ? input : (JSON.stringify(input) ?? "");
  return { ...call, toolCallId: id, toolName: String(toolName), input: text };
}

function toNewId({ callIds, step }: RunState, given: unknown, index: number): string {
  const known = typeof given === "string" && given !== "" ? given : "call";
  let id = known === given ? known : `${known}-${step}-${index}`;
  for (let attempt = 0; callIds.has(id); attempt++)
    id = `${known}-${step}-${index}${attempt === 0 ? "" : `-${attempt}`}`;
  callIds.add(id);
  return id;
}
