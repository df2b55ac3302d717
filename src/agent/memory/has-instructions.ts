import type { ModelMessage } from "../../models/model.ts";
import { markOf } from "./kitbag-mark.ts";
import { partsOf } from "./message-text.ts";

/** Tells whether the whole result with which a skill was opened is in messages. */
export function hasInstructions(messages: readonly ModelMessage[], skill: string): boolean {
  const parts = messages.filter((message) => markOf(message).cut !== true).flatMap((message) => partsOf(message));
  const ids = new Set(
    parts.flatMap(({ type, toolName, toolCallId, input }) => {
      const isOpening = type === "tool-call" && toolName === "activate_skill";
      return isOpening && (input as { readonly name?: unknown } | null)?.name === skill ? [toolCallId] : [];
    }),
  );
  // One that failed is an error. How the others are told depends on how the model sees tools.
  return parts.some(
    ({ type, toolCallId, output }) =>
      type === "tool-result" && ids.has(toolCallId) && (output?.type === "json" || output?.type === "text"),
  );
}
