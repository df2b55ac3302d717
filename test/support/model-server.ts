import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

import { isScriptedError, type ScriptedReply } from "./model-server-answer.ts";
import { anthropic } from "./model-server-anthropic.ts";
import { google } from "./model-server-google.ts";
import { findImageProblem } from "./model-server-images.ts";
import { ollama } from "./model-server-ollama.ts";
import { openaiChat, openaiCompatible } from "./model-server-openai-chat.ts";
import { openaiResponses } from "./model-server-openai-responses.ts";
import { findOutputProblem, type OutputSupport } from "./model-server-schemas.ts";
import { createRandom, sendAnswer } from "./model-server-send.ts";
import { toObject, type Dialect, type RequestContent, type Wire } from "./model-server-wire.ts";

/** The ways of speaking that the server knows. */
export const dialects = {
  "openai-chat": openaiChat,
  "openai-responses": openaiResponses,
  anthropic,
  google,
  "openai-compatible": openaiCompatible,
  ollama,
} as const satisfies Readonly<Record<string, Dialect>>;

/** The name of a way of speaking. */
export type DialectName = keyof typeof dialects;

/** What arrived, in the words of its provider (`body`) and of none. */
export interface ReceivedRequest extends RequestContent {
  readonly dialect: DialectName;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Wire;
}

/** What the model does: one reply a request in this order, or a function that decides on each. */
export type Script = readonly ScriptedReply[] | ((request: ReceivedRequest) => ScriptedReply | Promise<ScriptedReply>);

/** A server that speaks like the providers do. */
export interface ModelServer {
  /** The base URL to give to the package of the provider. */
  readonly url: (dialect: DialectName) => string;
  /** The only key that is let in. */
  readonly key: string;
  /** What arrived, in order: also what was refused. */
  readonly requests: readonly ReceivedRequest[];
  /** Why requests were refused, in order. */
  readonly refused: readonly string[];
  readonly close: () => Promise<void>;
}

/** How a {@link ModelServer} sends. */
export interface ModelServerOptions {
  /** Where streams are split into writes; the same seed splits in the same places. @default 1 */
  readonly seed?: number;
  /** What the server can do for an answer that must be JSON, if it copies OpenAI. @default "schema" */
  readonly output?: OutputSupport;
}

/**
 * Starts a server on a free port of the loopback interface that speaks the wire formats of OpenAI (chat completions and
 * responses), Anthropic, Google, Ollama and servers that copy OpenAI. It refuses, as the providers do, what they refuse: a wrong key,
 * calls without results and results without calls, thoughts with a signature that it never gave, pictures that are not what
 * they say.
 */
export async function startModelServer(script: Script, options: ModelServerOptions = {}): Promise<ModelServer> {
  const key = ["test", "key", "0001"].join("-");
  const requests: ReceivedRequest[] = [];
  const refused: string[] = [];
  const given = new Set<string>();
  const random = createRandom(options.seed ?? 1);
  const replies = Array.isArray(script) ? [...(script as readonly ScriptedReply[])] : undefined;

  async function decide(request: ReceivedRequest, dialect: Dialect): Promise<ScriptedReply> {
    if (dialect.getKey(request.headers) !== key) return { status: 401, message: "The API key is wrong" };
    const problem = findProblem(dialect, request, { given, output: options.output });
    if (problem !== undefined) refused.push(problem);
    if (problem !== undefined) return { status: 400, message: problem };
    if (typeof script === "function") return script(request);
    return replies?.shift() ?? { status: 400, message: "The script has no reply left" };
  }

  async function serve(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const request = await receive(incoming);
    if (request === undefined) return void response.writeHead(404).end();
    requests.push(request);
    const dialect = dialects[request.dialect];
    const reply = await decide(request, dialect);
    if (isScriptedError(reply)) {
      const type = { "content-type": "application/json" };
      response.writeHead(reply.status, { ...type, ...reply.headers });
      return void response.end(JSON.stringify(dialect.toError(reply.status, reply.message)));
    }
    if (reply.reasoning !== undefined) given.add(reply.reasoning.signature);
    for (const id of dialect.toGiven?.(reply, request) ?? []) given.add(id);
    await sendAnswer(response, dialect, request, { reply, random });
  }

  const server = createServer((incoming, response) => {
    // The other side may leave at any moment: that is its right.
    response.on("error", () => {});
    serve(incoming, response).catch((cause: unknown) => {
      response.destroy(cause as Error);
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: (dialect) => `http://127.0.0.1:${port}${dialects[dialect].base}`,
    key,
    requests,
    refused,
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}

interface Known {
  readonly given: ReadonlySet<string>;
  readonly output: OutputSupport | undefined;
}

/** Says what a provider would refuse a request for. */
function findProblem(dialect: Dialect, request: ReceivedRequest, known: Known): string | undefined {
  const { dialect: name, images, model } = request;
  return (
    dialect.findProblem?.(request.body, request, known.given) ??
    findImageProblem(images, name) ??
    findOutputProblem(name, { ...request.body, model }, known.output ?? "schema")
  );
}

async function receive(incoming: IncomingMessage): Promise<ReceivedRequest | undefined> {
  const path = (incoming.url ?? "").split("?")[0] ?? "";
  const name = (Object.keys(dialects) as DialectName[]).find((each) => dialects[each].isPath(path));
  if (name === undefined) return undefined;
  const body = toObject(JSON.parse(await text(incoming)));
  const headers = Object.fromEntries(Object.entries(incoming.headers).map(([key, value]) => [key, String(value)]));
  return { dialect: name, headers, body, ...dialects[name].readRequest(body, path) };
}
