import { estimateTokens } from "../../core/estimate-tokens.ts";
import type { ModelAnswer, ModelCall, ModelContent, ModelPart } from "../model.ts";
import { toParts } from "../shims/stream-answer.ts";
import { estimatePromptTokens } from "../tokens/estimate-tokens.ts";
import { decide } from "./decide.ts";
import { toJsonAnswer } from "./json-answer.ts";
import { toScene, type LocalModelOptions, type Scene } from "./scene.ts";

/** Answers one question, whole. Throws only if it is aborted. */
export function answerCall(call: ModelCall, options: LocalModelOptions): ModelAnswer {
  call.abortSignal?.throwIfAborted();
  const scene = toScene(call, options);
  const { text, call: planned } = decide(scene);
  const isForbidden = call.toolChoice?.type === "none";
  const limit = call.maxOutputTokens ?? Number.POSITIVE_INFINITY;
  if (planned !== undefined && !isForbidden) {
    const { tool: toolName, input } = planned;
    const made: ModelContent = { type: "tool-call", toolCallId: nextId(scene), toolName, input: JSON.stringify(input) };
    return countTokens([made]) > limit ? finish(call, [], "length") : finish(call, [made], "tool-calls");
  }
  const would =
    planned === undefined
      ? text
      : `I would call \`${planned.tool}\` with ${JSON.stringify(planned.input)}, but calling tools is not allowed here.`;
  const { responseFormat } = call;
  const said = responseFormat?.type === "json" ? toJsonAnswer(scene, would, responseFormat) : would;
  const shown = cutToStop(said, call.stopSequences, limit);
  return finish(call, shown.text === "" ? [] : [{ type: "text", text: shown.text }], shown.isCut ? "length" : "stop");
}

/** An id that no call of the conversation has, however much of it is left. */
function nextId({ conversation }: Scene): string {
  const ids = conversation.exchanges.flatMap(({ calls }) =>
    calls.map(({ id }) => Number(/^local-(\d{1,9})$/u.exec(id)?.[1] ?? 0)),
  );
  return `local-${ids.reduce((most, id) => Math.max(most, id), 0) + 1}`;
}

const localIds = { provider: "kitbag", modelId: "local" };

function finish(call: ModelCall, content: ModelContent[], unified: "length" | "stop" | "tool-calls"): ModelAnswer {
  const tools = call.tools?.filter((tool) => tool.type === "function") ?? [];
  const input = estimatePromptTokens({ messages: call.prompt, tools }, localIds);
  const output = countTokens(content);
  return {
    content,
    finishReason: { unified, raw: unified },
    usage: {
      inputTokens: { total: input, noCache: input, cacheRead: 0, cacheWrite: 0 },
      outputTokens: { total: output, text: output, reasoning: 0 },
    },
    warnings: [],
    response: { modelId: localIds.modelId },
  };
}

function countTokens(content: readonly ModelContent[]): number {
  const texts = content.map((part) =>
    part.type === "text" ? part.text : part.type === "tool-call" ? `${part.toolName} ${part.input}` : "",
  );
  return estimateTokens(texts.join("\n"));
}

/** Ends a text before the first stop sequence, and after so many tokens. */
function cutToStop(
  text: string,
  stops: readonly string[] = [],
  maxTokens: number,
): { readonly text: string; readonly isCut: boolean } {
  const ends = stops.filter((stop) => stop !== "" && text.includes(stop)).map((stop) => text.indexOf(stop));
  const stopped = text.slice(0, Math.min(text.length, ...ends));
  if (estimateTokens(stopped) <= maxTokens) return { text: stopped, isCut: false };
  let shown = "";
  for (const [word] of stopped.matchAll(/\s*\S{1,64}|\s+$/gu)) {
    if (estimateTokens(shown + word) > maxTokens) break;
    shown += word;
  }
  return { text: shown, isCut: true };
}

/** The parts of an answer as other models send them. Ends with the reason of an abort. */
export function* toStreamed({ content, finishReason, usage }: ModelAnswer, signal?: AbortSignal): Generator<ModelPart> {
  yield { type: "stream-start", warnings: [] };
  for (const part of toParts(content)) {
    signal?.throwIfAborted();
    yield part;
  }
  yield { type: "finish", finishReason, usage };
}
