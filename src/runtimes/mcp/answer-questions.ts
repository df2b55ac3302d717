import { AsyncLocalStorage } from "node:async_hooks";

import type { Client } from "@modelcontextprotocol/client";

import { describeCause } from "../../core/errors.ts";
import { cleanJson, toVisibleText } from "../../core/hidden-characters.ts";
import { copyJson, isRecord, type JsonObject, type JsonValue } from "../../core/json.ts";
import { type McpSource, toSourceKey } from "../../core/mcp-source.ts";
import { isSecretField } from "../../core/redaction/match-secrets.ts";
import type { CallerAccess, CallerQuestion } from "../../core/runtime.ts";

/** Something that a server does for a caller: a call, or an answer to a client that reads. */
export interface Work {
  /** The tool's name; nothing for what is no call. */
  readonly tool?: string;
  /** Asks the caller of the tool. @default the caller cannot be asked */
  readonly caller?: CallerAccess | undefined;
}

/** Answers what a server asks while it works. */
export interface Questions {
  /** Does something at the server. */
  during<Result>(work: Work, run: () => Promise<Result>): Promise<Result>;
  /** Answers a question of `work`, or rejects with why there is no answer. */
  answer(question: unknown, work: Work): Promise<JsonObject>;
}

/** What Kitbag says to servers that it can be asked. Pages to open are not among it: who is behind one cannot be seen. */
export const askable = { elicitation: { form: {} }, sampling: {} };

const mostQuestions = 10;
const mostFields = 16;
const longestMessage = 2000;
const limits = { maxBytes: 256 * 1024, maxDepth: 24 };

/**
 * Makes what answers the questions of a server. A question goes to the caller of the work that it belongs to; where that cannot be known,
 * because the server works for several callers, none of them is asked.
 */
export function createQuestions(source: McpSource, client: Client): Questions {
  const server = toSourceKey(source);
  const current = new AsyncLocalStorage<Work>();
  const running = new Set<Work>();
  const asked = new WeakMap<Work, number>();

  /** A server over HTTP asks in the answer to a request; a program does not say for which. */
  function findWork(): Work {
    const [only, ...others] = running;
    const found = current.getStore() ?? (others.length === 0 ? only : undefined);
    if (found !== undefined && running.has(found)) return found;
    throw new Error(
      running.size > 1
        ? "several calls are on their way, and it is not known which one this belongs to"
        : "no call is on its way",
    );
  }

  async function answer(question: unknown, work: Work): Promise<JsonObject> {
    const count = (asked.get(work) ?? 0) + 1;
    asked.set(work, count);
    if (count > mostQuestions) throw new Error(`one call may ask ${mostQuestions} times`);
    const { method, ...checked } = checkQuestion(question, { server, tool: work.tool });
    const what = method === "elicitation/create" ? "elicitation" : "sampling";
    if (work.caller?.can(what) !== true) throw new Error(`the caller cannot be asked (${what})`);
    const given = copyJson(await work.caller.ask({ method, ...checked }), limits);
    if (!given.ok || !isRecord(given.value)) throw new Error("the answer of the caller cannot be passed on");
    return given.value;
  }

  const respond = async (method: string, params: unknown): Promise<never> =>
    (await refusing(server, async () => answer({ method, params }, findWork()))) as never;
  client.setRequestHandler("elicitation/create", ({ params }) => respond("elicitation/create", params));
  client.setRequestHandler("sampling/createMessage", ({ params }) => respond("sampling/createMessage", params));

  return {
    async during(work, run) {
      running.add(work);
      try {
        return await current.run(work, run);
      } finally {
        running.delete(work);
      }
    },
    answer: async (question, work) => refusing(server, async () => answer(question, work)),
  };
}

/** The server hears why its question has no answer, and its call ends with that. */
async function refusing<Answer>(server: string, work: () => Promise<Answer>): Promise<Answer> {
  try {
    return await work();
  } catch (cause) {
    const { ProtocolError, ProtocolErrorCode } = await import("@modelcontextprotocol/client");
    const text = `Kitbag does not answer the question of the MCP server ${server}: ${describeCause(cause)}`;
    throw new ProtocolError(ProtocolErrorCode.InvalidRequest, text);
  }
}

interface Asker {
  readonly server: string;
  readonly tool: string | undefined;
}

/** What may be put to a caller: of known kinds, with all of it visible, and with the server's name in front. */
function checkQuestion(question: unknown, asker: Asker): CallerQuestion {
  const copy = copyJson(question, limits);
  const { method, params } = copy.ok && isRecord(copy.value) ? copy.value : ({} as JsonObject);
  if (!isRecord(params)) throw new Error("it is not a question of MCP, or is too large");
  const clean = cleanJson(params, toVisibleText);
  if (method === "elicitation/create") return { method, params: toForm(clean, asker) };
  if (method === "sampling/createMessage") return { method, params: toPrompt(clean, asker) };
  throw new Error("only elicitation and sampling are answered");
}

function describeAsker({ server, tool }: Asker): string {
  return `The MCP server ${server}${tool === undefined ? "" : ` (tool ${tool})`} asks:`;
}

const fieldTypes: ReadonlySet<unknown> = new Set(["string", "number", "integer", "boolean", "array"]);
const secretWords = /pass(?:word|phrase|code)|secret|api.?key|private.?key|access.?token|credential|card number/iu;

/** A form with simple fields, none of which is for a secret: the protocol forbids to ask for one in a form. */
function toForm({ mode = "form", message, requestedSchema }: JsonObject, asker: Asker): JsonObject {
  if (mode !== "form") throw new Error("only forms are shown, no pages");
  if (typeof message !== "string" || !isRecord(requestedSchema))
    throw new Error("the form has no message or no schema");
  const { properties, required = [] } = requestedSchema;
  const fields = Object.entries(isRecord(properties) ? properties : {});
  if (fields.length > mostFields) throw new Error(`a form may have ${mostFields} fields`);
  const wrong = fields.find(([, field]) => !isRecord(field) || !fieldTypes.has(field["type"]) || "$ref" in field);
  if (wrong !== undefined) throw new Error(`the field ${wrong[0]} of the form is not a simple one`);
  const isFree = fields.some(
    ([, field]) => isRecord(field) && field["type"] === "string" && field["enum"] === undefined,
  );
  const secret = fields.find(([name, field]) => isSecretField(name, field) || isForSecret(name, field));
  if (secret !== undefined || (isFree && secretWords.test(message)))
    throw new Error("a form must not ask for a secret");
  const shown = message.length > longestMessage ? `${message.slice(0, longestMessage)}…` : message;
  return {
    mode,
    message: `${describeAsker(asker)}\n\n${shown}`,
    requestedSchema: { type: "object", properties: Object.fromEntries(fields), required },
  };
}

function isForSecret(name: string, field: JsonValue): boolean {
  const { type, title, description } = isRecord(field) ? field : ({} as JsonObject);
  return (
    type === "string" && [name, title, description].some((text) => typeof text === "string" && secretWords.test(text))
  );
}

/** A prompt for the model of the caller: nothing of other servers is put before it, and it gets no tools. */
function toPrompt(params: JsonObject, asker: Asker): JsonObject {
  const { messages, maxTokens, systemPrompt, temperature, stopSequences, modelPreferences, tools, toolChoice } = params;
  if (tools !== undefined || toolChoice !== undefined) throw new Error("a prompt of a server gets no tools");
  if (!Array.isArray(messages) || typeof maxTokens !== "number")
    throw new Error("the prompt has no messages or no limit");
  const own = typeof systemPrompt === "string" ? `\n\n${systemPrompt}` : "";
  return {
    messages,
    maxTokens,
    systemPrompt: `${describeAsker(asker)}${own}`,
    ...(temperature !== undefined && { temperature }),
    ...(stopSequences !== undefined && { stopSequences }),
    ...(modelPreferences !== undefined && { modelPreferences }),
  };
}
