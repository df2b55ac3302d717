import type { GateRequest, IncomingMessage, ServerResponse } from "../../../gate/gate.ts";
import type { Tool } from "../../../core/tool.ts";
import { canBeAsked } from "../calls/ask-client.ts";
import { createClient } from "../create-client.ts";
import type { SessionUse } from "../../../gate/sessions/user-sessions.ts";
import { toServerInfo, type Services } from "../serve-client.ts";
import { answerPlainCall, renderPlainList } from "./answer-plain.ts";
import { modernRevision, readPlain, type PlainRequest } from "./plain-request.ts";

/** Answers a request of 2026 over HTTP if it is plain; answers `false` if the SDK must answer it: nothing has run then. */
export type AnswerPlainHttp = (
  request: GateRequest,
  body: unknown,
  use: () => SessionUse | undefined,
) => Promise<boolean>;

/**
 * Makes what answers plain requests of the 2026 generation over HTTP. For each request the SDK makes a server, a `Request` and a
 * `Response`, which costs many times what the call does; the request below is answered with one `write`. The gate has made all its
 * checks.
 */
export function createPlainHttp({ options, calls }: Services): AnswerPlainHttp {
  // Only the SDK knows what a host puts in place of a method.
  if (options.extend !== undefined) return () => Promise.resolve(false);
  const serverInfo = toServerInfo(options);

  return async ({ incoming, response, caller, signal }, body, use) => {
    // A caller that may not call every tool may get a challenge instead of an answer.
    if (caller.scopes !== "all" || !hasPlainHeaders(incoming)) return false;
    const request = readPlain(body, "2026");
    if (request === undefined || !isSaidInHeaders(request, incoming)) return false;
    const used = use();
    if (used === undefined) return false;
    try {
      const mcp = (): undefined => undefined;
      const client = createClient({ options, caller: () => caller, generation: "2026", use: used, mcp });
      const said = { mcpReq: { envelope: request.envelope ?? {} } };
      client.see(said);
      const called = client.session.getTool(request.name)?.tool;
      if (canBeAsked(client.capabilities(said)) || (called !== undefined && repeatsArguments(called))) return false;
      if (request.method === "tools/list") send(response, 200, renderPlainList(request, client, serverInfo));
      else {
        const { status, message } = await answerPlainCall(request, {
          ...{ calls, client, serverInfo, signal },
          http: { req: { headers: { get: (name) => readHeader(incoming, name) } } },
        });
        send(response, status, JSON.stringify(message));
      }
      return true;
    } finally {
      used.end();
    }
  };
}

function readHeader({ headers }: IncomingMessage, name: string): string | null {
  const value = headers[name];
  return typeof value === "string" ? value : null;
}

function send(response: ServerResponse, status: number, text: string): void {
  if (response.destroyed) return;
  const bytes = Buffer.from(text);
  response.writeHead(status, { "content-type": "application/json", "content-length": bytes.length }).end(bytes);
}

function hasPlainHeaders({ method, headers }: IncomingMessage): boolean {
  return (
    method === "POST" &&
    headers["content-type"] === "application/json" &&
    headers["mcp-protocol-version"] === modernRevision &&
    headers["mcp-session-id"] === undefined
  );
}

/** The headers must repeat what the body says. The SDK reads a name that had to be encoded for a header. */
function isSaidInHeaders({ method, name }: PlainRequest, { headers }: IncomingMessage): boolean {
  const said = headers["mcp-name"];
  return headers["mcp-method"] === method && (method === "tools/call" ? said === name : said === undefined);
}

const repeating = new WeakMap<Tool, boolean>();

/** Whether headers of a request must repeat arguments of the tool: the SDK compares them. */
function repeatsArguments(tool: Tool): boolean {
  const known = repeating.get(tool) ?? JSON.stringify(tool.inputSchema).includes('"x-mcp-header"');
  repeating.set(tool, known);
  return known;
}
