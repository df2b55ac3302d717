import type { LanguageModelV4ToolResultOutput, LanguageModelV4ToolResultPart } from "@ai-sdk/provider";

import type { ErrorCode } from "../../core/errors.ts";
import { renderWrittenFiles } from "../../core/call-files.ts";
import { cleanJson, toVisibleText } from "../../core/hidden-characters.ts";
import type { JsonValue } from "../../core/json.ts";
import type { ToolOutcome } from "../../core/outcome.ts";
import { wrapUntrusted } from "../../core/untrusted-text.ts";
import type { ModelContent, ModelMessage } from "../../models/model.ts";
import type { ModelAnswered } from "../events.ts";
import type { PlannedCall } from "./plan-calls.ts";
import type { RunState } from "./run-state.ts";

type AssistantMessage = Extract<ModelMessage, { role: "assistant" }>;
type AssistantPart = AssistantMessage["content"][number];

/**
 * Makes the message that an answer is from the next question on. What a provider said of a part goes back to it with the part:
 * signatures of its reasoning, ids of its items. `inputs` are those of the calls, in their order, as they were read. An answer that says
 * nothing is no message: no provider takes one.
 */
export function toAssistantMessage(content: readonly ModelContent[], inputs: Inputs): ModelMessage | undefined {
  const parts: AssistantPart[] = [];
  for (const item of content) {
    const part = toPart(item, inputs);
    if (part !== undefined) parts.push(part);
  }
  return parts.length === 0 ? undefined : { role: "assistant", content: parts };
}

/**
 * Makes the message that an answer is which the model is to go on with: only its text. Calls that are not made must not wait for results,
 * and what a provider says of a part (an id, a signature) may belong to a part that never became whole.
 */
export function toCutMessage(content: readonly ModelContent[]): ModelMessage | undefined {
  const texts = content.flatMap((item) => (item.type === "text" ? [{ type: "text", text: item.text } as const] : []));
  return texts.length === 0 ? undefined : { role: "assistant", content: texts };
}

/** The inputs of calls, by their ids. */
type Inputs = Pick<ReadonlyMap<string, JsonValue>, "get">;

function toPart(item: ModelContent, inputs: Inputs): AssistantPart | undefined {
  const options = item.providerMetadata && { providerOptions: item.providerMetadata };
  switch (item.type) {
    case "text":
    case "reasoning":
      return { type: item.type, text: item.text, ...options };
    case "tool-call": {
      const { toolCallId, toolName, providerExecuted } = item;
      return {
        type: "tool-call",
        toolCallId,
        toolName: toShownName(toolName),
        input: toShownInput(inputs.get(toolCallId)),
        ...(providerExecuted && { providerExecuted }),
        ...options,
      };
    }
    case "tool-result": {
      const { toolCallId, toolName, result, isError } = item;
      const output = { type: isError ? "error-json" : "json", value: result } as const;
      return { type: "tool-result", toolCallId, toolName, output, ...options };
    }
    case "file":
    case "reasoning-file":
      return { type: item.type, data: item.data, mediaType: item.mediaType, ...options };
    case "custom":
      return { type: "custom", kind: item.kind, ...options };
    case "source":
    case "tool-approval-request":
    default:
      // Sources are for people; requests for approval of the provider's own tools are answered elsewhere.
      return undefined;
  }
}

/** Providers accept only objects as inputs: any other input is shown in the result of the call instead. */
function toShownInput(input: JsonValue | undefined): JsonValue {
  return typeof input === "object" && input !== null && !Array.isArray(input) ? input : {};
}

/** The outcome of a call, as the journal keeps it: `untrusted` if it is text from code outside the host program. */
type ShownOutcome = ToolOutcome & { readonly untrusted?: true };

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
 * Labels the outcome of a call, so that the journal keeps the label too. Function tools belong to the program and are trusted. JSON
 * needs no label: it is quoted, and cannot close the envelope around it.
 */
export function labelOutcome({ tool }: Pick<PlannedCall, "tool">, outcome: ToolOutcome): ShownOutcome {
  if (tool === undefined || tool.code.kind === "function") return outcome;
  const isText =
    outcome.files !== undefined ||
    (outcome.status === "ok" ? typeof outcome.output === "string" : toolWords.has(outcome.error.code));
  return isText ? { ...outcome, untrusted: true } : outcome;
}

/** Renders the result of a call for the model: without invisible characters, and with untrusted text in an envelope. */
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
    return { type: "error-text", value: toText(withFiles(message, outcome)) };
  }
  const { output } = outcome;
  if (typeof output === "string") return { type: "text", value: toText(withFiles(output, outcome)) };
  if (outcome.files !== undefined) return { type: "text", value: toText(withFiles(JSON.stringify(output), outcome)) };
  return { type: "json", value: cleanJson(output, toVisibleText) as never };
}

function withFiles(text: string, { files }: ToolOutcome): string {
  return files === undefined ? text : `${text}\n\n${renderWrittenFiles(files)}`.trimStart();
}

const wireGrammar = /^[A-Za-z0-9_-]{1,64}$/u;

/** The name of a tool as it may stand in a conversation: providers refuse one in which a model has called something impossible. */
function toShownName(name: string): string {
  if (wireGrammar.test(name)) return name;
  const clean = name.slice(0, 64).replaceAll(/[^A-Za-z0-9_-]/gu, "_");
  return clean === "" ? "unknown" : clean;
}

const cutReasons: ReadonlySet<string> = new Set(["interrupted", "error", "content-filter"]);

/**
 * Whether an answer was cut off, or filtered: its calls are not made. Some providers say "error" where others say that it was
 * interrupted.
 */
export function isCut({ finishReason }: Pick<ModelAnswered, "finishReason">): boolean {
  return cutReasons.has(finishReason);
}

/** Whether the output limit cut an answer that asks for no call: the model is to go on with it. Whole calls are made. */
export function isTooLong({ finishReason, content }: Pick<ModelAnswered, "finishReason" | "content">): boolean {
  return (
    finishReason === "length" && !content.some((item) => item.type === "tool-call" && item.providerExecuted !== true)
  );
}

/** Notes what an answer says: the last text of the model, which goes on with what it had said when its answer was cut. */
export function noteText(
  run: Pick<RunState, "text" | "cutText" | "finishReason" | "interrupted" | "continued">,
  answer: Pick<ModelAnswered, "content" | "finishReason">,
): void {
  const text = run.cutText + textOf(answer);
  if (text !== "") run.text = text;
  run.finishReason = answer.finishReason;
  run.interrupted = isCut(answer) ? run.interrupted + 1 : 0;
  run.continued = isTooLong(answer) ? run.continued + 1 : 0;
  run.cutText = run.interrupted + run.continued > 0 ? text : "";
}

/** The text of an answer. */
export function textOf({ content }: Pick<ModelAnswered, "content">): string {
  let text = "";
  for (const item of content) if (item.type === "text") text += item.text;
  return text;
}
