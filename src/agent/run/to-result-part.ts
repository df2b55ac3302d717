import type { LanguageModelV4ToolResultOutput, LanguageModelV4ToolResultPart } from "@ai-sdk/provider";

import type { ErrorCode } from "../../core/errors.ts";
import { cleanJson, toVisibleText } from "../../core/hidden-characters.ts";
import type { ToolOutcome } from "../../core/outcome.ts";
import { wrapUntrusted } from "../../core/untrusted-text.ts";
import type { PlannedCall } from "./plan-calls.ts";
import { toShownName } from "./shown-name.ts";

/** What came of a call, as the journal keeps it: `untrusted` if it is text of code that is not the program's own. */
export type ShownOutcome = ToolOutcome & { readonly untrusted?: true };

/** Failures whose messages are words of the tool. */
const toolWords: ReadonlySet<string> = new Set<ErrorCode>([
  "code-failed",
  "mcp-failed",
  "program-failed",
  "script-failed",
  "step-failed",
  "tool-failed",
]);

/**
 * Labels what came of a call, so that the log says it too. Functions of the program speak for the program. JSON needs no label: it is
 * quoted, and cannot end what it is in.
 */
export function labelOutcome({ tool }: Pick<PlannedCall, "tool">, outcome: ToolOutcome): ShownOutcome {
  if (tool === undefined || tool.code.kind === "function") return outcome;
  const isText = outcome.status === "ok" ? typeof outcome.output === "string" : toolWords.has(outcome.error.code);
  return isText ? { ...outcome, untrusted: true } : outcome;
}

/** Makes what a model sees of a call that is over: nothing that a reader does not see, and text of others in an envelope. */
export function toResultPart(id: string, toolName: string, outcome: ShownOutcome): LanguageModelV4ToolResultPart {
  const name = toShownName(toolName);
  return { type: "tool-result", toolCallId: id, toolName: name, output: toOutput(outcome, name) };
}

function toOutput(outcome: ShownOutcome, name: string): LanguageModelV4ToolResultOutput {
  const toText = (text: string): string => {
    const visible = toVisibleText(text);
    return outcome.untrusted === true ? wrapUntrusted(name, visible) : visible;
  };
  if (outcome.status === "failed") {
    const { code, message } = outcome.error;
    if (code === "approval-denied") return { type: "execution-denied", reason: toVisibleText(message) };
    return { type: "error-text", value: toText(message) };
  }
  const { output } = outcome;
  if (typeof output === "string") return { type: "text", value: toText(output) };
  return { type: "json", value: cleanJson(output, toVisibleText) as never };
}
