import { KitbagError } from "../../core/errors.ts";
import type { ModelCall, ModelMessage } from "../../models/model.ts";
import { readNativeChange } from "../../models/tool-changes.ts";
import { renderMessages } from "../runs/render-messages.ts";

/** What a model was shown, to be read. */
export interface ShownPrompt {
  readonly system: string;
  /** The names of the tools, as it sees them. */
  readonly tools: readonly string[];
  /** The conversation, as `renderRun` writes it. */
  readonly conversation: string;
}

/**
 * Makes what was shown with one of the questions; with negative numbers counted from the end.
 *
 * @throws {KitbagError} `option-invalid` if there are not so many.
 */
export function toShown(asked: readonly ModelCall[], question: number): ShownPrompt {
  const call = asked.at(question);
  if (call === undefined) {
    const expected = asked.length === 0 ? "no question: it was not asked" : `a whole number below ${asked.length}`;
    throw new KitbagError("option-invalid", { option: "question", found: String(question), expected });
  }
  const { prompt, tools = [] } = call;
  return {
    system: prompt.flatMap((message) => (isSystemText(message) ? [message.content] : [])).join("\n\n"),
    tools: tools.map(({ name }) => name),
    conversation: renderMessages(prompt.filter((message) => !isSystemText(message))).join("\n"),
  };
}

/** A change of the list of tools is a message of the system, and a part of the conversation. */
function isSystemText(message: ModelMessage): message is Extract<ModelMessage, { role: "system" }> {
  return message.role === "system" && readNativeChange(message) === undefined;
}
