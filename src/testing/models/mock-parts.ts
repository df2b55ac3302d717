import type { FinishReason, ModelCall, ModelContent, ModelPart, ModelUsage } from "../../models/model.ts";
import type { MockAnswerParts, MockReasoning } from "./mock-answer.ts";

/** What an answer holds; `index` says which one it is, for the ids of its calls. */
export function toContent({ reasoning, text, files = [], calls = [] }: MockAnswerParts, index: number): ModelContent[] {
  return [
    ...(reasoning === undefined ? [] : [toReasoning(reasoning)]),
    ...(text === undefined ? [] : [{ type: "text" as const, text }]),
    ...files.map(({ mediaType, data }) => ({
      type: "file" as const,
      mediaType,
      data: { type: "data" as const, data },
    })),
    ...calls.map(({ tool, input = {}, id }, place) => ({
      type: "tool-call" as const,
      toolCallId: id ?? `call-${index}-${place}`,
      toolName: tool,
      input: typeof input === "string" ? input : JSON.stringify(input),
    })),
  ];
}

function toReasoning(reasoning: string | MockReasoning): Extract<ModelContent, { type: "reasoning" }> {
  if (typeof reasoning === "string") return { type: "reasoning", text: reasoning };
  const { text, metadata } = reasoning;
  return { type: "reasoning", text, ...(metadata && { providerMetadata: metadata }) };
}

/** The parts of an answer, up to where it is cut. */
export function toParts(answer: MockAnswerParts, call: ModelCall, index: number): ModelPart[] {
  const parts: ModelPart[] = [{ type: "stream-start", warnings: [] }, ...(answer.parts ?? [])];
  for (const [place, item] of toContent(answer, index).entries()) {
    if (item.type === "text" || item.type === "reasoning") parts.push(...toDeltas(item, String(place)));
    else if (item.type === "tool-call") parts.push(...toInputs(item), item);
    else if (item.type === "file") parts.push(item);
  }
  const { breaks, drops, cutAfter } = answer;
  if (breaks !== undefined) return [...parts.slice(0, cutAfter), { type: "error", error: breaks }];
  if (cutAfter !== undefined || drops !== undefined) return parts.slice(0, cutAfter);
  return [...parts, { type: "finish", finishReason: toReason(answer), usage: toUsage(answer, call) }];
}

/** Word by word. */
function toDeltas(item: Extract<ModelContent, { type: "text" | "reasoning" }>, id: string): ModelPart[] {
  const { type, text, providerMetadata } = item;
  const words = text.match(/\S+\s*|\s+/gu) ?? [];
  return [
    { type: `${type}-start`, id },
    ...words.map((delta): ModelPart => ({ type: `${type}-delta`, id, delta })),
    { type: `${type}-end`, id, ...(providerMetadata && { providerMetadata }) },
  ];
}

function toInputs({ toolCallId: id, toolName, input }: Extract<ModelContent, { type: "tool-call" }>): ModelPart[] {
  return [
    { type: "tool-input-start", id, toolName },
    { type: "tool-input-delta", id, delta: input },
    { type: "tool-input-end", id },
  ];
}

/** Why an answer ended. */
export function toReason({ finishReason, calls = [] }: MockAnswerParts): FinishReason {
  return { unified: finishReason ?? (calls.length > 0 ? "tool-calls" : "stop"), raw: undefined };
}

/** What an answer used. */
export function toUsage({ usage, text = "", reasoning = "" }: MockAnswerParts, { prompt }: ModelCall): ModelUsage {
  const thought = typeof reasoning === "string" ? reasoning : reasoning.text;
  const input = usage?.input ?? Math.ceil(JSON.stringify(prompt).length / 4);
  const output = usage?.output ?? Math.ceil((text.length + thought.length) / 4);
  const { cacheRead = 0, cacheWrite = 0, reasoning: thinking = 0 } = usage ?? {};
  return {
    inputTokens: { total: input, noCache: Math.max(0, input - cacheRead - cacheWrite), cacheRead, cacheWrite },
    outputTokens: { total: output, text: Math.max(0, output - thinking), reasoning: thinking },
  };
}
