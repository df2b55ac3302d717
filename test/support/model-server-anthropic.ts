import { toInputText, toPieces, usualUsage, type ScriptedAnswer, type ScriptedCall } from "./model-server-answer.ts";
import {
  toList,
  toObject,
  toText,
  type Dialect,
  type ReceivedImage,
  type RequestContent,
  type Wire,
  type WireEvent,
} from "./model-server-wire.ts";

const base = "/anthropic/v1";

/** Anthropic, `POST /v1/messages`. Thoughts have a signature, and are refused if it is not the one that was given. */
export const anthropic: Dialect = {
  base,
  isPath: (path) => path === `${base}/messages`,
  getKey: (headers) => headers["x-api-key"],
  readRequest,
  findProblem,
  toBody: (answer, content) => ({
    ...toMessage(content),
    content: toBlocks(answer),
    stop_reason: toReason(answer),
    usage: { ...toInputUsage(answer), output_tokens: (answer.usage ?? usualUsage).output },
  }),
  toEvents,
  toFailure: () => toEvent({ type: "error", error: { type: "overloaded_error", message: "Overloaded" } }),
  toError: (status, message) => ({
    type: "error",
    error: { type: errorTypes[status] ?? "api_error", message },
    request_id: "req_1",
  }),
};

const errorTypes: Readonly<Record<number, string>> = {
  400: "invalid_request_error",
  401: "authentication_error",
  429: "rate_limit_error",
  500: "api_error",
  529: "overloaded_error",
};

function readRequest(body: Wire): RequestContent {
  const parts = toList(body["messages"]).flatMap(({ role, content }) =>
    toParts(content).map((part) => ({ ...part, role })),
  );
  const of = (role: string, name: string): readonly Wire[] =>
    parts.filter((part) => part.role === role && toObject(part)["type"] === name);
  const results = of("user", "tool_result");
  return {
    model: toText(body["model"]),
    isStream: body["stream"] === true,
    turn: toList(body["messages"]).length,
    system: toParts(body["system"])
      .map(({ text }) => toText(text))
      .join("\n"),
    texts: of("user", "text").map(({ text }) => toText(text)),
    images: [
      ...of("user", "image"),
      ...results.flatMap(({ content }) => toList(content).filter(({ type }) => type === "image")),
    ].map((part) => toImage(toObject(part["source"]))),
    tools: toList(body["tools"]).map(({ name, description, input_schema: schema }) => ({
      name: toText(name),
      description: toText(description),
      schema: toObject(schema),
    })),
    calls: of("assistant", "tool_use").map(({ id, name, input }) => ({
      id: toText(id),
      name: toText(name),
      input: toObject(input),
    })),
    results: results.map(({ tool_use_id: id, content }) => ({
      id: toText(id),
      text: toParts(content)
        .map(({ text }) => toText(text))
        .join(""),
    })),
    signatures: of("assistant", "thinking").map(({ signature }) => toText(signature)),
  };
}

function toParts(content: unknown): readonly Wire[] {
  return typeof content === "string" ? [{ type: "text", text: content }] : toList(content);
}

function toImage({ type, url, media_type: mediaType, data }: Wire): ReceivedImage {
  if (type === "url") return { url: toText(url) };
  return { mediaType: toText(mediaType), bytes: Buffer.from(toText(data), "base64") };
}

/** The results of all calls of an answer are in the message right after it. */
function findProblem(body: Wire, content: RequestContent, given: ReadonlySet<string>): string | undefined {
  const forged = content.signatures.find((signature) => !given.has(signature));
  if (forged !== undefined) return "messages.1.content.0: Invalid `signature` in `thinking` block";
  const odd = content.calls.find(({ id }) => !/^[a-zA-Z0-9_-]+$/u.test(id));
  if (odd !== undefined) return "messages.1.content.0.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'";
  const messages = toList(body["messages"]);
  if (messages.at(-1)?.["role"] === "assistant") {
    return "This model does not support assistant message prefill. The conversation must end with a user message.";
  }
  for (const [index, message] of messages.entries()) {
    const uses = toParts(message["content"]).filter(({ type }) => type === "tool_use");
    const next = toParts(messages[index + 1]?.["content"]);
    const open = uses.find(({ id }) => !next.some((part) => part["tool_use_id"] === id));
    if (open !== undefined) {
      return `messages.${index}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${toText(open["id"])}`;
    }
  }
  const thinks = toObject(body["thinking"])["type"];
  if ((thinks === "enabled" || thinks === "adaptive") && content.calls.length > 0 && content.signatures.length === 0) {
    return "messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`";
  }
  return undefined;
}

function toMessage({ model, turn }: RequestContent): Wire {
  return {
    id: `msg_${turn}`,
    type: "message",
    role: "assistant",
    model,
    content: [],
    stop_reason: null,
    stop_sequence: null,
  };
}

function toBlocks({ reasoning, text, calls = [] }: ScriptedAnswer): readonly Wire[] {
  return [
    ...(reasoning === undefined
      ? []
      : [{ type: "thinking", thinking: reasoning.text, signature: reasoning.signature }]),
    ...(text === undefined ? [] : [{ type: "text", text }]),
    ...calls.map(({ id, name, input, inputText }) => ({ type: "tool_use", id, name, input, inputText })),
  ];
}

function toReason({ calls, isCutShort, isFiltered }: ScriptedAnswer): string {
  if (isFiltered === true) return "refusal";
  if (isCutShort === true) return "max_tokens";
  return calls === undefined ? "end_turn" : "tool_use";
}

/** Here `input_tokens` are those that no cache had anything to do with. */
function toInputUsage({ usage = usualUsage }: ScriptedAnswer): Wire {
  const { input, cacheRead = 0, cacheWrite = 0 } = usage;
  return {
    input_tokens: input - cacheRead - cacheWrite,
    cache_creation_input_tokens: cacheWrite,
    cache_read_input_tokens: cacheRead,
    service_tier: "standard",
  };
}

function toEvents(answer: ScriptedAnswer, content: RequestContent): readonly WireEvent[] {
  const { usage = usualUsage } = answer;
  return [
    { type: "message_start", message: { ...toMessage(content), usage: { ...toInputUsage(answer), output_tokens: 1 } } },
    { type: "ping" },
    ...toBlocks(answer).flatMap((block, index) => [
      { type: "content_block_start", index, content_block: toEmpty(block) },
      ...toDeltas(block).map((delta) => ({ type: "content_block_delta", index, delta })),
      { type: "content_block_stop", index },
    ]),
    {
      type: "message_delta",
      delta: { stop_reason: toReason(answer), stop_sequence: null },
      usage: { output_tokens: usage.output },
    },
    { type: "message_stop" },
  ].map(toEvent);
}

function toEmpty(block: Wire): Wire {
  if (block["type"] === "thinking") return { type: "thinking", thinking: "", signature: "" };
  const { inputText: _, ...call } = block;
  return block["type"] === "text" ? { type: "text", text: "" } : { ...call, input: {} };
}

function toDeltas(block: Wire): readonly Wire[] {
  switch (block["type"]) {
    case "thinking":
      return [
        ...toPieces(toText(block["thinking"])).map((thinking) => ({ type: "thinking_delta", thinking })),
        { type: "signature_delta", signature: block["signature"] },
      ];
    case "text":
      return toPieces(toText(block["text"])).map((text) => ({ type: "text_delta", text }));
    default:
      return ["", ...toPieces(toInputText(block as unknown as ScriptedCall))].map((json) => ({
        type: "input_json_delta",
        partial_json: json,
      }));
  }
}

function toEvent(event: Wire): WireEvent {
  return { name: toText(event["type"]), data: JSON.stringify(event) };
}
