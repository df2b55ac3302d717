import { isRecord, type JsonObject, type JsonValue } from "../../core/json.ts";
import { unwrapUntrusted } from "../../core/untrusted-text.ts";
import type { ModelMessage, ModelPrompt } from "../model.ts";

/** What came back from a tool. A text that is JSON is read as such. */
export interface DoneResult {
  readonly status: "denied" | "failed" | "ok";
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
  readonly hasFiles: boolean;
  readonly calls: readonly DoneCall[];
  /** What was said to the user. */
  readonly answer: string;
}

/** A prompt, in the order in which things happened. */
export interface Conversation {
  readonly system: string;
  /** What an agent recalled from its memory across conversations. */
  readonly remembered: string;
  /** At least one; the last is the one to answer. */
  readonly exchanges: readonly Exchange[];
}

interface OpenExchange {
  readonly texts: string[];
  hasFiles: boolean;
  readonly calls: DoneCall[];
  readonly answers: string[];
}

const openExchange = (): OpenExchange => ({ texts: [], hasFiles: false, calls: [], answers: [] });

/** Reads a prompt. Parts of unknown kinds are left out. */
export function readConversation(prompt: ModelPrompt): Conversation {
  const exchanges = [openExchange()];
  const results = collectResults(prompt);
  for (const message of prompt) {
    let last = exchanges.at(-1) as OpenExchange;
    if (message.role === "assistant") addAssistant(last, message, results);
    if (message.role !== "user" || isOfAgent(message)) continue;
    // Two messages in a row are one request.
    if (last.calls.length > 0 || last.answers.length > 0) exchanges.push((last = openExchange()));
    for (const part of message.content) {
      if (part.type === "text") last.texts.push(part.text);
      else if (part.type === "file" && part.data.type === "text") last.texts.push(part.data.text);
      else if (part.type === "file") last.hasFiles = true;
    }
  }
  return {
    remembered: prompt.filter(isRecalled).map(textOf).join("\n"),
    system: prompt.flatMap((message) => (message.role === "system" ? message.content : [])).join("\n\n"),
    exchanges: exchanges.map(({ texts, answers, ...exchange }) => ({
      ...exchange,
      text: texts.join("\n").trim(),
      answer: answers.join("\n"),
    })),
  };
}

/**
 * With such a message the agent tells which tools there are from now on, which the list of tools and `activate_skill` tell too; or what
 * it recalls from its memory.
 */
function isOfAgent(message: ModelMessage): boolean {
  return message.providerOptions?.["kitbag"]?.["tools"] === true || isRecalled(message);
}

function isRecalled({ providerOptions }: ModelMessage): boolean {
  return Array.isArray(providerOptions?.["kitbag"]?.["recalled"]);
}

function textOf({ content }: ModelMessage): string {
  if (typeof content === "string") return content;
  return content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
}

function addAssistant(
  exchange: OpenExchange,
  { content }: Extract<ModelMessage, { role: "assistant" }>,
  results: ReadonlyMap<string, DoneResult>,
): void {
  for (const part of content) {
    if (part.type === "text" && part.text !== "") exchange.answers.push(part.text);
    if (part.type !== "tool-call") continue;
    const { toolCallId: id, toolName: tool } = part;
    const input = asObject(typeof part.input === "string" ? parseJson(part.input) : (part.input as JsonValue));
    const result = results.get(id);
    exchange.calls.push({ id, tool, input, ...(result !== undefined && { result }) });
  }
}

/** An object as it is; anything else as an empty one. */
export function asObject(value: JsonValue | undefined): JsonObject {
  return isRecord(value) ? value : {};
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
      return { status: "ok", value: toValue(unwrapUntrusted(output.value)) };
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
      return { status: "ok", value: toValue(texts.join("\n")) };
    }
  }
}

/** The value of a text that is an object or a list; any other text as it is. */
function toValue(text: string): JsonValue {
  return (/^\s{0,200}[[{]/u.test(text) ? parseJson(text) : undefined) ?? text;
}

/** The value of a text that is JSON. */
export function parseJson(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return undefined;
  }
}

/** A skill as the system text, or an answer of `search_tools`, lists it. */
export interface ListedSkill {
  readonly name: string;
  readonly description: string;
}

const mostSkills = 20_000;

/** The list of skills in a system text, in either form in which the agent writes it; empty for a text without skills. */
export function parseCatalog(system: string): ListedSkill[] {
  const skills = new Map<string, ListedSkill>();
  const [, ...lists] = system.split("<available_skills>");
  for (const list of lists) {
    const [inside = ""] = list.split("</available_skills>", 1);
    for (const part of inside.split("<skill>").slice(1, mostSkills)) {
      const name = between(part, "<name>", "</name>");
      if (name !== "") skills.set(name, { name, description: between(part, "<description>", "</description>") });
    }
  }
  const [, lines = ""] = system.split("Skills that can be opened with activate_skill:\n", 2);
  for (const line of lines.split("\n", mostSkills)) {
    const [, name, description = ""] = /^- ([^\s:]{1,64}): (.*)$/u.exec(line) ?? [];
    if (name === undefined) break;
    skills.set(name, { name, description });
  }
  return [...skills.values()];
}

function between(text: string, open: string, close: string): string {
  const from = text.indexOf(open);
  const to = from === -1 ? -1 : text.indexOf(close, from);
  if (to === -1) return "";
  const inside = text.slice(from + open.length, to).trim();
  return inside.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&");
}
