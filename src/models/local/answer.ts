import { estimateTokens } from "../../core/estimate-tokens.ts";
import type { FinishReason, ModelCall, ModelContent, ModelPart, ModelTool, ModelUsage } from "../model.ts";
import { parseCatalog, readConversation, type Exchange } from "./conversation.ts";
import { decide } from "./decide.ts";
import { isDispatched, readDispatch, withoutDispatch } from "./dispatch.ts";
import { toJsonAnswer } from "./json-answer.ts";
import type { LocalModelOptions } from "./local-model-options.ts";
import { isMeta, type Scene } from "./scene.ts";

/** An answer that is known whole. */
export interface WholeAnswer {
  readonly content: readonly ModelContent[];
  readonly finishReason: FinishReason;
  readonly usage: ModelUsage;
}

/** Answers one question, whole. Throws only if it is aborted. */
export function answerCall(call: ModelCall, options: LocalModelOptions): WholeAnswer {
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

function finish(
  call: ModelCall,
  content: readonly ModelContent[],
  unified: "length" | "stop" | "tool-calls",
): WholeAnswer {
  const input = countInput(call);
  const output = countTokens(content);
  return {
    content,
    finishReason: { unified, raw: unified },
    usage: {
      inputTokens: { total: input, noCache: input, cacheRead: 0, cacheWrite: 0 },
      outputTokens: { total: output, text: output, reasoning: 0 },
    },
  };
}

function countInput({ prompt, tools = [] }: ModelCall): number {
  const texts = [prompt, ...tools].map((part) => {
    try {
      return JSON.stringify(part, (_, value: unknown) => (value instanceof Uint8Array ? undefined : value));
    } catch {
      // A schema that could be sent to no provider (a cycle, thousands of levels) is not counted.
      return "";
    }
  });
  return estimateTokens(texts.join("\n"));
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
  let low = 0;
  let high = stopped.length;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (estimateTokens(stopped.slice(0, middle)) <= maxTokens) low = middle;
    else high = middle;
  }
  return { text: stopped.slice(0, low), isCut: true };
}

function toScene({ prompt, tools = [], toolChoice }: ModelCall, options: LocalModelOptions): Scene {
  const wanted = toolChoice?.type === "tool" ? toolChoice.toolName : undefined;
  const listed = tools.filter(
    (tool): tool is ModelTool => tool.type === "function" && (wanted ?? tool.name) === tool.name,
  );
  const whole = readConversation(prompt);
  const dispatch = isDispatched(listed) ? readDispatch(whole) : undefined;
  const conversation = dispatch === undefined ? whole : withoutDispatch(whole);
  const skills = new Map(
    [...(dispatch?.skills ?? []), ...parseCatalog(whole.system)].map((skill) => [skill.name, skill]),
  );
  const today = options.today ?? /\btoday is (\d{4}-\d{2}-\d{2})/iu.exec(whole.system)?.[1];
  const isAsked = toolChoice?.type === "required" || wanted !== undefined;
  return {
    conversation,
    exchange: conversation.exchanges.at(-1) as Exchange,
    tools: dispatch === undefined ? listed : [...listed, ...dispatch.tools],
    skills: [...skills.values()],
    dispatch,
    today,
    mustCall: isAsked && listed.some((tool) => !isMeta(tool)),
  };
}

/** The parts of an answer as other models send them: text word by word, the input of a call in pieces. */
export function* toParts({ content, finishReason, usage }: WholeAnswer): Generator<ModelPart> {
  yield { type: "stream-start", warnings: [] };
  for (const [index, part] of content.entries()) {
    if (part.type === "text") {
      const id = String(index);
      yield { type: "text-start", id };
      for (const [delta] of part.text.matchAll(/\s*\S{1,64}|\s+$/gu)) yield { type: "text-delta", id, delta };
      yield { type: "text-end", id };
    } else if (part.type === "tool-call") {
      const { toolCallId: id, toolName, input } = part;
      yield { type: "tool-input-start", id, toolName };
      for (let at = 0; at < input.length; at += 32)
        yield { type: "tool-input-delta", id, delta: input.slice(at, at + 32) };
      yield { type: "tool-input-end", id };
      yield part;
    }
  }
  yield { type: "finish", finishReason, usage };
}
