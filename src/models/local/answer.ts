import { estimateTokens } from "../../core/estimate-tokens.ts";
import type { ModelAnswer, ModelCall, ModelContent, ModelPart } from "../model.ts";
import { toParts } from "../shims/stream-answer.ts";
import { estimatePromptTokens } from "../tokens/estimate-tokens.ts";
import { decide } from "./decide.ts";
import { toScene, type LocalModelOptions, type Scene, workOf } from "./scene.ts";
import type { JsonObject, JsonValue } from "../../core/json.ts";
import { isSchemaObject } from "../../core/schema/json-schema.ts";
import { asObject } from "./conversation.ts";
import { fillParameters } from "./fill.ts";
import { parametersOf, type Parameter } from "./parameters.ts";
import { readRequest } from "./read-request.ts";

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

/** The answer as JSON: what the last result and the request say, in the form that was asked for. */
function toJsonAnswer(
  { exchange, today }: Scene,
  text: string,
  format: NonNullable<ModelCall["responseFormat"]>,
): string {
  const schema: unknown = format.type === "json" ? format.schema : undefined;
  const last = workOf(exchange).at(-1)?.result?.value;
  const [answer] = parametersOf({ properties: { answer: schema }, required: ["answer"] });
  if (answer === undefined || !isSchemaObject(schema))
    return JSON.stringify(typeof last === "object" && last !== null ? last : { answer: last ?? text });
  const { input: said } = fillParameters({
    request: readRequest(exchange.text),
    parameters: parametersOf(schema),
    isOwn: () => false,
    isKnown: () => true,
    isLoose: false,
    isOrdered: false,
    today,
  });
  return JSON.stringify(valueOf(answer, text, { ...said, ...asObject(last) }));
}

/** What is known of an object; for the rest the least that its schema allows, as far as one can see; for a free text, the answer. */
function valueOf({ schema, choices, type }: Parameter, text: string, known: JsonObject = {}): JsonValue {
  if ("default" in schema) return schema["default"] as JsonValue;
  if (choices[0] !== undefined) return choices[0];
  switch (type) {
    case "boolean":
      return false;
    case "number":
    case "integer":
      return typeof schema["minimum"] === "number" ? schema["minimum"] : 0;
    case "array":
      return [];
    case "object":
      return Object.fromEntries(
        parametersOf(schema)
          .filter(({ name, isRequired }) => isRequired || Object.hasOwn(known, name))
          .map((field) => [field.name, known[field.name] ?? valueOf(field, text)]),
      );
    case "string":
      return text;
    case "any":
      return null;
  }
}
