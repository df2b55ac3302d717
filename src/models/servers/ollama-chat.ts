import { isRecord } from "../../core/json.ts";
import { readLines } from "../../platform/lines.ts";
import type { Model, ModelAnswer, ModelCall, ModelPart, ModelUsage } from "../model.ts";
import type { Connection } from "../providers.ts";
import { collectAnswer } from "../shims/collect-answer.ts";
import { OpenTexts, toCallParts, type WholeCall } from "../shims/open-texts.ts";
import type { PartAnswer, PartSource } from "../shims/part-source.ts";
import { wrapParts } from "../shims/wrap-model.ts";
import { toRoot } from "./ask-server.ts";
import { toOllamaMessages } from "./to-ollama-messages.ts";

/**
 * A model of Ollama, through its own `/api/chat`: the interface that copies OpenAI's takes neither a context (`numCtx`) nor how long
 * the model stays in memory (`keepAlive`), and cuts a prompt that is too long without a word.
 */
export function ollamaChat(connection: Connection): Model {
  const described = { provider: "ollama.chat", modelId: connection.model, supportedUrls: {} };
  return wrapParts(described, {
    doGenerate: async (call) => collectAnswer((await ask(call, connection)).source),
    ask: (call) => ask(call, connection),
  });
}

/** No line of an answer is longer. */
const mostLineBytes = 64 * 1024 ** 2;

async function ask(call: ModelCall, connection: Connection): Promise<PartAnswer> {
  const warnings: ModelAnswer["warnings"] = [];
  const body = toBody(call, connection.model, warnings);
  const response = await send(call, connection, body);
  if (!response.ok) throw await toFailure(response);
  const parts = readParts(readLines(response.body ?? [], { maxBytes: mostLineBytes }), warnings);
  return { source: toSource(parts), request: { body } };
}

async function send(call: ModelCall, connection: Connection, body: object): Promise<Response> {
  const { baseUrl, apiKey, headers, fetch: request = fetch } = connection;
  const own = Object.entries(call.headers ?? {}).filter(
    (header): header is [string, string] => header[1] !== undefined,
  );
  try {
    return await request(`${toRoot(baseUrl)}/api/chat`, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        ...(apiKey !== undefined && { authorization: `Bearer ${apiKey}` }),
        ...headers,
        ...Object.fromEntries(own),
      },
      body: JSON.stringify(body),
      ...(call.abortSignal && { signal: call.abortSignal }),
    });
  } catch (cause) {
    if (call.abortSignal?.aborted === true) throw cause;
    throw Object.assign(new Error("the connection was lost", { cause }), { isRetryable: true });
  }
}

function toSource(parts: AsyncGenerator<ModelPart, undefined>): PartSource {
  return {
    next: async () => (await parts.next()).value,
    async cancel() {
      // The connection may be broken already.
      await parts.return(undefined).catch(() => {});
    },
  };
}

/** What the server refused, with its status: `toModelError` says it in our words. */
async function toFailure(response: Response): Promise<Error> {
  const { status } = response;
  const text = (await response.text().catch(() => "")).slice(0, 10_000);
  const isRetryable = status === 408 || status === 409 || status === 429 || status >= 500;
  const responseHeaders = Object.fromEntries(response.headers);
  return Object.assign(new Error(readError(text)), { statusCode: status, responseHeaders, isRetryable });
}

/** Ollama may pass on the error of the server inside, as JSON in a text. */
function readError(text: string): string {
  let words: unknown = text;
  for (let depth = 0; depth < 3; depth++) {
    if (typeof words === "string" && words.startsWith("{")) words = parse(words);
    if (!isRecord(words)) break;
    words = words["error"] ?? words["message"];
  }
  return typeof words === "string" && words !== "" ? words : text;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function toBody(call: ModelCall, model: string, warnings: ModelAnswer["warnings"]): Record<string, unknown> {
  const { responseFormat, providerOptions } = call;
  const { keepAlive, ...own } = providerOptions?.["ollama"] ?? {};
  const tools = toTools(call, warnings);
  const think = toThink(call.reasoning);
  return {
    model,
    messages: toOllamaMessages(call.prompt, warnings),
    stream: true,
    // A prompt that is too long is refused, where the server knows these words, and not cut.
    truncate: false,
    shift: false,
    options: toOptions(call, own["numCtx"]),
    ...(tools.length > 0 && { tools }),
    ...(responseFormat?.type === "json" && { format: responseFormat.schema ?? "json" }),
    ...(think !== undefined && { think }),
    ...(keepAlive !== undefined && { keep_alive: keepAlive }),
  };
}

function toOptions(call: ModelCall, numCtx: unknown): Record<string, unknown> {
  const options = {
    num_ctx: numCtx,
    num_predict: call.maxOutputTokens,
    temperature: call.temperature,
    top_p: call.topP,
    top_k: call.topK,
    presence_penalty: call.presencePenalty,
    frequency_penalty: call.frequencyPenalty,
    seed: call.seed,
    stop: call.stopSequences,
  };
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
}

function toTools({ tools = [], toolChoice }: ModelCall, warnings: ModelAnswer["warnings"]): readonly unknown[] {
  if (toolChoice?.type === "none") return [];
  if (tools.length > 0 && (toolChoice?.type === "required" || toolChoice?.type === "tool")) {
    warnings.push({ type: "unsupported", feature: "toolChoice", details: "Ollama lets the model choose" });
  }
  return tools.flatMap((tool) => {
    if (tool.type === "function") {
      const { name, description = "", inputSchema } = tool;
      return [{ type: "function", function: { name, description, parameters: inputSchema } }];
    }
    warnings.push({ type: "unsupported", feature: `the tool ${tool.id} of a provider` });
    return [];
  });
}

/** Whether and how much the model thinks; a model decides itself if nothing is said. */
function toThink(reasoning: ModelCall["reasoning"]): boolean | string | undefined {
  if (reasoning === undefined || reasoning === "provider-default") return undefined;
  if (reasoning === "none") return false;
  return reasoning === "low" || reasoning === "medium" || reasoning === "high" ? reasoning : true;
}

/** Reads the lines of an answer. What the server says went wrong is a part, and an answer that ends too early is interrupted. */
async function* readParts(
  lines: AsyncIterable<string>,
  warnings: ModelAnswer["warnings"],
): AsyncGenerator<ModelPart, undefined> {
  yield { type: "stream-start", warnings };
  const open = new OpenTexts();
  let hasCalls = false;
  let isFirst = true;
  for await (const text of lines) {
    if (text.trim() === "") continue;
    const line = parse(text);
    if (!isRecord(line) || line["error"] !== undefined) {
      yield { type: "error", error: new Error(isRecord(line) ? readError(text) : "a line of the answer is not JSON") };
      continue;
    }
    const message = isRecord(line["message"]) ? line["message"] : {};
    if (isFirst && typeof line["model"] === "string") yield { type: "response-metadata", modelId: line["model"] };
    isFirst = false;
    yield* open.add("reasoning", message["thinking"]);
    yield* open.add("text", message["content"]);
    const calls = toCalls(message["tool_calls"]);
    if (calls.length > 0) yield* open.end();
    hasCalls ||= calls.length > 0;
    for (const call of calls) yield* toCallParts(call);
    if (line["done"] === true) {
      yield* open.end();
      yield { type: "finish", finishReason: toReason(line["done_reason"], hasCalls), usage: toUsage(line) };
      return;
    }
  }
  yield* open.end();
  yield { type: "finish", finishReason: { unified: "interrupted", raw: undefined }, usage: toUsage({}) };
}

function toCalls(value: unknown): readonly WholeCall[] {
  if (!Array.isArray(value)) return [];
  return value.filter(isRecord).flatMap((call) => {
    const { name, arguments: input = {} } = isRecord(call["function"]) ? call["function"] : {};
    if (typeof name !== "string") return [];
    const id = typeof call["id"] === "string" && call["id"] !== "" ? call["id"] : `call_${crypto.randomUUID()}`;
    return [{ id, name, input: typeof input === "string" ? input : JSON.stringify(input) }];
  });
}

function toReason(raw: unknown, hasCalls: boolean): ModelAnswer["finishReason"] {
  const text = typeof raw === "string" ? raw : undefined;
  if (text === "length") return { unified: "length", raw: text };
  return { unified: hasCalls ? "tool-calls" : "stop", raw: text };
}

function toUsage(line: Readonly<Record<string, unknown>>): ModelUsage {
  const total = (count: unknown): number | undefined => (typeof count === "number" ? count : undefined);
  return {
    inputTokens: {
      total: total(line["prompt_eval_count"]),
      noCache: undefined,
      cacheRead: undefined,
      cacheWrite: undefined,
    },
    outputTokens: { total: total(line["eval_count"]), text: undefined, reasoning: undefined },
  };
}
