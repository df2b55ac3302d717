import { toInputText, toPieces, usualUsage, type ScriptedAnswer } from "./model-server-answer.ts";
import {
  toImage,
  toInput,
  toList,
  toObject,
  toText,
  type Dialect,
  type RequestContent,
  type Wire,
  type WireEvent,
} from "./model-server-wire.ts";

/** OpenAI, `POST /v1/chat/completions`. Thoughts are never shown, only counted. */
export const openaiChat: Dialect = createChatDialect("/openai/v1", false);

/** A server that copies it (vLLM, LM Studio, Ollama, …). Thoughts are `reasoning_content`, without a signature. */
export const openaiCompatible: Dialect = createChatDialect("/compatible/v1", true);

const created = 1_760_000_000;

function createChatDialect(base: string, showsReasoning: boolean): Dialect {
  return {
    base,
    isPath: (path) => path === `${base}/chat/completions`,
    getKey: (headers) => /^Bearer (.+)$/u.exec(headers["authorization"] ?? "")?.[1],
    readRequest,
    findProblem: (body, content) => (showsReasoning ? undefined : findLongId(content)) ?? findProblem(body),
    toBody: (answer, { model, turn }) => ({
      id: `chatcmpl-${turn}`,
      object: "chat.completion",
      created,
      model,
      choices: [
        {
          index: 0,
          message: {
            role: "assistant",
            content: answer.text ?? null,
            refusal: null,
            annotations: [],
            ...(showsReasoning && answer.reasoning !== undefined && { reasoning_content: answer.reasoning.text }),
            ...(answer.calls !== undefined && { tool_calls: answer.calls.map(toCall) }),
          },
          logprobs: null,
          finish_reason: toReason(answer),
        },
      ],
      usage: toUsage(answer),
      service_tier: "default",
      system_fingerprint: null,
    }),
    toEvents: (answer, content) => toEvents(answer, content, showsReasoning),
    toFailure: () => ({ data: JSON.stringify(toError(500, "The server had an error while processing your request")) }),
    toError,
  };
}

function readRequest(body: Wire): RequestContent {
  const messages = toList(body["messages"]);
  const of = (...roles: string[]): readonly Wire[] => messages.filter(({ role }) => roles.includes(toText(role)));
  const userParts = of("user").flatMap(({ content }) => toParts(content));
  const calls = of("assistant").flatMap((message) => toList(message["tool_calls"]));
  return {
    model: toText(body["model"]),
    isStream: body["stream"] === true,
    turn: messages.length,
    system: of("system", "developer")
      .flatMap(({ content }) => toParts(content))
      .map(({ text }) => toText(text))
      .join("\n"),
    texts: userParts.filter(({ type }) => type === "text").map(({ text }) => toText(text)),
    images: userParts
      .filter(({ type }) => type === "image_url")
      .map((part) => toImage(toText(toObject(part["image_url"])["url"]))),
    tools: toList(body["tools"]).map((tool) => {
      const { name, description, parameters } = toObject(tool["function"]);
      return { name: toText(name), description: toText(description), schema: toObject(parameters) };
    }),
    calls: calls.map((call) => {
      const { name, arguments: input } = toObject(call["function"]);
      return { id: toText(call["id"]), name: toText(name), input: toInput(input) };
    }),
    results: of("tool").map((message) => ({
      id: toText(message["tool_call_id"]),
      text: toParts(message["content"])
        .map(({ text }) => toText(text))
        .join(""),
    })),
    signatures: [],
  };
}

function toParts(content: unknown): readonly Wire[] {
  return typeof content === "string" ? [{ type: "text", text: content }] : toList(content);
}

/** After an answer with calls stand their results, all of them and nothing else. */
/** OpenAI counts the characters of an id; servers that copy it do not. */
function findLongId({ calls }: RequestContent): string | undefined {
  const index = calls.findIndex(({ id }) => id.length > 40);
  return index === -1
    ? undefined
    : `Invalid 'messages[${index}].tool_calls[0].id': string too long. Expected a string with maximum length 40.`;
}

function findProblem(body: Wire): string | undefined {
  const waiting = new Set<string>();
  for (const { role, tool_calls: calls, tool_call_id: id } of toList(body["messages"])) {
    if (role === "tool") {
      if (!waiting.delete(toText(id)))
        return "messages with role 'tool' must be a response to a preceding message with 'tool_calls'";
    } else if (waiting.size > 0) break;
    for (const call of toList(calls)) waiting.add(toText(call["id"]));
  }
  if (waiting.size === 0) return undefined;
  return `An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. (No response found for ${[...waiting].join(", ")})`;
}

function toEvents(
  answer: ScriptedAnswer,
  { model, turn }: RequestContent,
  showsReasoning: boolean,
): readonly WireEvent[] {
  const thoughts = showsReasoning ? toPieces(answer.reasoning?.text ?? "") : [];
  const deltas: Wire[] = [
    { role: "assistant", content: "", refusal: null },
    ...thoughts.map((text) => ({ reasoning_content: text })),
    ...toPieces(answer.text ?? "").map((content) => ({ content })),
    ...(answer.calls ?? []).flatMap((call, index) => [
      { tool_calls: [{ index, ...toCall({ ...call, input: undefined }) }] },
      ...toPieces(toInputText(call)).map((piece) => ({
        tool_calls: [{ index, function: { arguments: piece } }],
      })),
    ]),
  ];
  const toChunk = (choices: readonly Wire[], usage: Wire | null): WireEvent => ({
    data: JSON.stringify({ id: `chatcmpl-${turn}`, object: "chat.completion.chunk", created, model, choices, usage }),
  });
  const toChoice = (delta: Wire, reason: string | null): Wire[] => [
    { index: 0, delta, logprobs: null, finish_reason: reason },
  ];
  return [
    ...deltas.map((delta) => toChunk(toChoice(delta, null), null)),
    toChunk(toChoice({}, toReason(answer)), null),
    toChunk([], toUsage(answer)),
    { data: "[DONE]" },
  ];
}

function toCall({ id, name, input }: { id: string; name: string; input: unknown }): Wire {
  return { id, type: "function", function: { name, arguments: input === undefined ? "" : JSON.stringify(input) } };
}

function toReason({ calls, isCutShort, isFiltered }: ScriptedAnswer): string {
  if (isFiltered === true) return "content_filter";
  if (isCutShort === true) return "length";
  return calls === undefined ? "stop" : "tool_calls";
}

function toUsage({ usage = usualUsage }: ScriptedAnswer): Wire {
  return {
    prompt_tokens: usage.input,
    completion_tokens: usage.output,
    total_tokens: usage.input + usage.output,
    prompt_tokens_details: { cached_tokens: usage.cacheRead ?? 0, audio_tokens: 0 },
    completion_tokens_details: { reasoning_tokens: usage.reasoning ?? 0, audio_tokens: 0 },
  };
}

const errorTypes: Readonly<Record<number, string>> = {
  400: "invalid_request_error",
  401: "invalid_request_error",
  429: "rate_limit_error",
};

function toError(status: number, message: string): Wire {
  const code = status === 401 ? "invalid_api_key" : status === 429 ? "rate_limit_exceeded" : null;
  return { error: { message, type: errorTypes[status] ?? "server_error", param: null, code } };
}
