import type { ModelMessage } from "../../../models/model.ts";
import { partsOf } from "../message-text.ts";

type ToolMessage = Extract<ModelMessage, { role: "tool" }>;

const noResult = "Nobody knows what came of this call: the run was stopped, or waits for an approval of it.";

/** Messages of a run that was stopped or paused, in which the last calls have results: no provider takes calls without. */
export function closeCalls(messages: readonly ModelMessage[]): readonly ModelMessage[] {
  const start = messages.findLastIndex(({ role }) => role === "assistant");
  const answer = messages[start];
  const behind = messages.slice(start + 1);
  if (answer === undefined || !behind.every((message): message is ToolMessage => message.role === "tool")) {
    return messages;
  }
  const known = new Set(behind.flatMap((message) => partsOf(message)).map(({ toolCallId }) => toolCallId));
  const open = partsOf(answer).filter(
    ({ type, toolCallId, providerExecuted }) =>
      type === "tool-call" && providerExecuted !== true && !known.has(toolCallId),
  );
  if (open.length === 0) return messages;
  const results = open.map(({ toolCallId = "", toolName = "" }) => ({
    type: "tool-result" as const,
    toolCallId,
    toolName,
    output: { type: "error-text" as const, value: noResult },
  }));
  const content = [...behind.flatMap((message) => message.content), ...results];
  return [...messages.slice(0, start + 1), { role: "tool", content }];
}
