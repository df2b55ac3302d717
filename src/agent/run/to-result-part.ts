import type { LanguageModelV4ToolResultOutput, LanguageModelV4ToolResultPart } from "@ai-sdk/provider";

import type { ToolOutcome } from "../../core/outcome.ts";
import { toShownName } from "./shown-name.ts";

/** Makes what a model sees of a call that is over. */
export function toResultPart(id: string, toolName: string, outcome: ToolOutcome): LanguageModelV4ToolResultPart {
  return { type: "tool-result", toolCallId: id, toolName: toShownName(toolName), output: toOutput(outcome) };
}

function toOutput(outcome: ToolOutcome): LanguageModelV4ToolResultOutput {
  if (outcome.status === "failed") {
    const { code, message } = outcome.error;
    if (code === "approval-denied") return { type: "execution-denied", reason: message };
    return { type: "error-text", value: message };
  }
  const { output } = outcome;
  return typeof output === "string" ? { type: "text", value: output } : { type: "json", value: output as never };
}
