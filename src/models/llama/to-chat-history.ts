import type { ModelAnswer, ModelMessage, ModelPrompt } from "../model.ts";
import type { ChatItem, ChatPart } from "./llama-package.ts";

type Warnings = ModelAnswer["warnings"];
type ResultPart = Extract<Extract<ModelMessage, { role: "tool" }>["content"][number], { type: "tool-result" }>;

/**
 * Writes a prompt as `node-llama-cpp` keeps a conversation: a call holds its result, and what the model says after that belongs to the
 * same turn. The last item is the turn that the model goes on with.
 */
export function toChatHistory(prompt: ModelPrompt, warnings: Warnings): readonly ChatItem[] {
  const items: ChatItem[] = [];
  const calls = new Map<string, Extract<ChatPart, { type: "functionCall" }>>();
  for (const message of prompt) {
    if (message.role === "system") items.push({ type: "system", text: message.content });
    else if (message.role === "user") items.push({ type: "user", text: toUserText(message.content, warnings) });
    else if (message.role === "assistant") addAnswer(turnOf(items), message.content, calls);
    else for (const part of message.content) if (part.type === "tool-result") addResult(calls, part, warnings);
  }
  turnOf(items);
  return items;
}

/** The turn of the model that is open: a new one if something else was said last. */
function turnOf(items: ChatItem[]): ChatPart[] {
  const last = items.at(-1);
  if (last?.type === "model") return last.response;
  const turn: ChatPart[] = [];
  items.push({ type: "model", response: turn });
  return turn;
}

function addAnswer(
  turn: ChatPart[],
  content: Extract<ModelMessage, { role: "assistant" }>["content"],
  calls: Map<string, Extract<ChatPart, { type: "functionCall" }>>,
): void {
  let startsNewChunk = true;
  for (const part of content) {
    if (part.type === "text") turn.push(part.text);
    if (part.type === "reasoning") turn.push({ type: "segment", segmentType: "thought", text: part.text, ended: true });
    if (part.type !== "tool-call") continue;
    const call = {
      type: "functionCall" as const,
      name: part.toolName,
      params: part.input,
      result: null,
      startsNewChunk,
    };
    startsNewChunk = false;
    calls.set(part.toolCallId, call);
    turn.push(call);
  }
}

function addResult(
  calls: ReadonlyMap<string, Extract<ChatPart, { type: "functionCall" }>>,
  { toolCallId, output }: ResultPart,
  warnings: Warnings,
): void {
  const call = calls.get(toolCallId);
  if (call !== undefined) call.result = toResult(output, warnings);
}

function toResult(output: ResultPart["output"], warnings: Warnings): unknown {
  if (output.type === "execution-denied") return output.reason ?? "The call was denied";
  return output.type === "content" ? toUserText(output.value, warnings) : output.value;
}

function toUserText(
  content: readonly { readonly type: string; readonly text?: string; readonly data?: { readonly type: string } }[],
  warnings: Warnings,
): string {
  const texts: string[] = [];
  for (const part of content) {
    const { text: inline } = (part.data ?? {}) as { readonly text?: string };
    const text = part.text ?? inline;
    if (text !== undefined) texts.push(text);
    else warnings.push({ type: "unsupported", feature: "a file", details: "a model in this process reads text" });
  }
  return texts.join("\n");
}
