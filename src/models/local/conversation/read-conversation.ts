import type { JsonObject, JsonValue } from "../../../core/json.ts";
import { unwrapUntrusted } from "../../../core/untrusted-text.ts";
import type { ModelMessage, ModelPrompt } from "../../model.ts";

/** What came back from a tool. */
export interface DoneResult {
  readonly status: "denied" | "failed" | "ok";
  /** Text, or JSON; a text that is JSON is read as such. */
  readonly value: JsonValue;
}

/** A call that was made earlier. */
export interface DoneCall {
  readonly id: string;
  readonly tool: string;
  readonly input: JsonObject;
  readonly result?: DoneResult;
}

/** One message of the user, and everything that followed up to the next one. */
export interface Exchange {
  readonly text: string;
  /** Kinds of files that came with it and are no text. */
  readonly files: readonly string[];
  /** Calls that were made at once are together. */
  readonly rounds: readonly (readonly DoneCall[])[];
  /** What was said to the user. */
  readonly answer: string;
}

/** A prompt, in the order in which things happened. */
export interface Conversation {
  readonly system: string;
  /** At least one; the last is the one to answer. */
  readonly exchanges: readonly Exchange[];
}

interface OpenExchange {
  texts: string[];
  files: string[];
  rounds: DoneCall[][];
  answers: string[];
}

/** Reads a prompt. Parts that nobody knows are left out. */
export function readConversation(prompt: ModelPrompt): Conversation {
  const system: string[] = [];
  const exchanges: OpenExchange[] = [];
  const results = collectResults(prompt);
  for (const message of prompt) {
    if (message.role === "system") system.push(message.content);
    else if (message.role === "user") addUser(exchanges, message);
    else if (message.role === "assistant") addAssistant(exchanges, message, results);
  }
  if (exchanges.length === 0) exchanges.push(emptyExchange());
  return {
    system: system.join("\n\n"),
    exchanges: exchanges.map(({ texts, files, rounds, answers }) => ({
      text: texts.join("\n").trim(),
      files,
      rounds,
      answer: answers.join("\n"),
    })),
  };
}

function emptyExchange(): OpenExchange {
  return { texts: [], files: [], rounds: [], answers: [] };
}

function addUser(exchanges: OpenExchange[], { content }: Extract<ModelMessage, { role: "user" }>): void {
  const last = exchanges.at(-1);
  // Two messages in a row are one: nobody has answered the first yet.
  const isOpen = last !== undefined && last.rounds.length === 0 && last.answers.length === 0;
  const exchange = isOpen ? last : emptyExchange();
  if (!isOpen) exchanges.push(exchange);
  for (const part of content) {
    if (part.type === "text") exchange.texts.push(part.text);
    else if (part.type === "file" && part.data.type === "text") exchange.texts.push(part.data.text);
    else if (part.type === "file") exchange.files.push(part.mediaType);
  }
}

function addAssistant(
  exchanges: OpenExchange[],
  { content }: Extract<ModelMessage, { role: "assistant" }>,
  results: ReadonlyMap<string, DoneResult>,
): void {
  if (exchanges.length === 0) exchanges.push(emptyExchange());
  const exchange = exchanges.at(-1) as OpenExchange;
  const calls: DoneCall[] = [];
  for (const part of content) {
    if (part.type === "text" && part.text !== "") exchange.answers.push(part.text);
    if (part.type !== "tool-call") continue;
    const result = results.get(part.toolCallId);
    calls.push({
      id: part.toolCallId,
      tool: part.toolName,
      input: toInput(part.input),
      ...(result !== undefined && { result }),
    });
  }
  if (calls.length > 0) exchange.rounds.push(calls);
}

function toInput(input: unknown): JsonObject {
  if (typeof input === "string") return toInput(parseJson(input));
  return typeof input === "object" && input !== null && !Array.isArray(input) ? (input as JsonObject) : {};
}

function collectResults(prompt: ModelPrompt): Map<string, DoneResult> {
  const results = new Map<string, DoneResult>();
  for (const message of prompt) {
    if (message.role !== "tool" && message.role !== "assistant") continue;
    for (const part of message.content)
      if (part.type === "tool-result") results.set(part.toolCallId, toResult(part.output));
  }
  return results;
}

type Output = Extract<Extract<ModelMessage, { role: "tool" }>["content"][number], { type: "tool-result" }>["output"];

function toResult(output: Output): DoneResult {
  switch (output.type) {
    case "text":
      return { status: "ok", value: parseJson(unwrapUntrusted(output.value)) };
    case "json":
      return { status: "ok", value: output.value as JsonValue };
    case "error-text":
      return { status: "failed", value: unwrapUntrusted(output.value) };
    case "error-json":
      return { status: "failed", value: output.value as JsonValue };
    case "execution-denied":
      return { status: "denied", value: output.reason ?? "" };
    case "content": {
      const texts = output.value.flatMap((part) => (part.type === "text" ? [part.text] : []));
      return { status: "ok", value: parseJson(texts.join("\n")) };
    }
  }
}

/** Longer ones are shown as they are. */
const longestJson = 1_000_000;

/** The value of a text that is a JSON object or list; any other text as it is. */
function parseJson(text: string): JsonValue {
  const start = text.slice(0, 200).trimStart()[0];
  if ((start !== "{" && start !== "[") || text.length > longestJson) return text;
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return text;
  }
}
