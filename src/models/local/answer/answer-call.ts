import { estimateTokens } from "../../../core/estimate-tokens.ts";
import type { ModelCall, ModelContent, ModelTool } from "../../model.ts";
import { parseCatalog } from "../conversation/parse-catalog.ts";
import { readConversation, type Conversation, type Exchange } from "../conversation/read-conversation.ts";
import { isDispatched, readDispatch, withoutDispatch } from "../conversation/read-dispatch.ts";
import type { LocalModelOptions } from "../local-model-options.ts";
import { createMatcher } from "../match/create-matcher.ts";
import { decide } from "../plan/decide.ts";
import { isMeta, type Decision, type Scene } from "../plan/decision.ts";
import { cutText } from "./cut-text.ts";
import { toJsonAnswer } from "./json-answer.ts";
import type { WholeAnswer } from "./stream-content.ts";

/** Answers one question, whole. Throws only if it is aborted. */
export function answerCall(call: ModelCall, options: LocalModelOptions): WholeAnswer {
  call.abortSignal?.throwIfAborted();
  const scene = toScene(call, options);
  const decision = call.toolChoice?.type === "none" ? withoutCalls(decide(scene)) : decide(scene);
  const calls = toCalls(decision, scene.conversation);
  const limit = call.maxOutputTokens ?? Number.POSITIVE_INFINITY;
  if (calls.length > 0 && countTokens(calls) <= limit) return finish(call, calls, "tool-calls");
  const { responseFormat } = call;
  const said = responseFormat?.type === "json" ? toJsonAnswer(scene, decision.text, responseFormat) : decision.text;
  const { text, isCut } = cutText(said, call.stopSequences, limit);
  return finish(call, text === "" ? [] : [{ type: "text", text }], isCut || calls.length > 0 ? "length" : "stop");
}

function withoutCalls({ text, calls }: Decision): Decision {
  const names = calls.map(({ tool, input }) => `\`${tool}\` with ${JSON.stringify(input)}`);
  return {
    text: calls.length === 0 ? text : `I would call ${names.join(" and ")}, but calling tools is not allowed here.`,
    calls: [],
  };
}

/** A call that nobody made before has an id that nobody had before, however much of the conversation is left. */
function toCalls({ calls }: Decision, { exchanges }: Conversation): ModelContent[] {
  const ids = exchanges.flatMap(({ rounds }) =>
    rounds.flat().map(({ id }) => Number(/^local-(\d{1,9})$/u.exec(id)?.[1] ?? 0)),
  );
  const before = ids.reduce((most, id) => Math.max(most, id), 0);
  return calls.map(({ tool, input }, index) => ({
    type: "tool-call",
    toolCallId: `local-${before + index + 1}`,
    toolName: tool,
    input: JSON.stringify(input),
  }));
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
      return JSON.stringify(part, leaveOutBytes);
    } catch {
      // A schema that no provider could be sent (a cycle, thousands of levels) is not counted.
      return "";
    }
  });
  return estimateTokens(texts.join("\n"));
}

function leaveOutBytes(_: string, value: unknown): unknown {
  return value instanceof Uint8Array ? undefined : value;
}

function countTokens(content: readonly ModelContent[]): number {
  const texts = content.map((part) =>
    part.type === "text" ? part.text : part.type === "tool-call" ? `${part.toolName} ${part.input}` : "",
  );
  return estimateTokens(texts.join("\n"));
}

function toScene({ prompt, tools = [], toolChoice }: ModelCall, options: LocalModelOptions): Scene {
  const functions = tools.filter((tool): tool is ModelTool => tool.type === "function");
  const wanted = toolChoice?.type === "tool" ? toolChoice.toolName : undefined;
  const listed = wanted === undefined ? functions : functions.filter(({ name }) => name === wanted);
  const seen = look(readConversation(prompt), listed);
  const { conversation, skills } = seen;
  const today = options.today ?? findToday(conversation.system);
  const matched = seen.tools.filter(({ name }) => !isMeta(name) || wanted !== undefined);
  return {
    ...seen,
    exchange: conversation.exchanges.at(-1) as Exchange,
    matcher: createMatcher(matched, skills),
    ...(today !== undefined && { today }),
    mustCall: toolChoice?.type === "required" || wanted !== undefined,
  };
}

/** What there is to see: where tools are found by searching, those that were found too. */
function look(
  conversation: Conversation,
  tools: readonly ModelTool[],
): Pick<Scene, "conversation" | "dispatch" | "skills" | "tools"> {
  const skills = parseCatalog(conversation.system);
  if (!isDispatched(tools)) return { conversation, tools, skills };
  const dispatch = readDispatch(conversation);
  return {
    conversation: withoutDispatch(conversation),
    tools: [...tools, ...dispatch.tools],
    skills: [...skills, ...dispatch.skills],
    dispatch,
  };
}

function findToday(system: string): string | undefined {
  return /\b(?:today(?:'s date)?(?: is)?|current date(?: is)?|date)\b[^\d\n]{0,20}(\d{4}-\d{2}-\d{2})/iu.exec(
    system,
  )?.[1];
}
