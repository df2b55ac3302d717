import type { GateRequest, IncomingMessage, ServerResponse } from "../../../gate/gate.ts";
import { createClient } from "../create-client.ts";
import { toServerInfo } from "../create-instance.ts";
import type { Services } from "../services.ts";
import { answerPlain } from "./answer-plain.ts";
import { answered, left, type LeanHttp } from "./lean-answer.ts";
import { modernRevision, readPlain, type PlainRequest } from "./plain-request.ts";

/**
 * Makes what answers plain requests of the 2026 generation without the SDK, which spends on each of them many times what the call
 * costs. The gate has checked everything that it checks of any request.
 */
export function createLeanHttp(services: Services): LeanHttp {
  const { options, handles, shared: session } = services;
  // What the host puts in place of a method is known to the SDK alone.
  if (options.extend !== undefined) return () => Promise.resolve(left);
  const serverInfo = JSON.stringify(toServerInfo(options));

  return async ({ incoming, response, caller, signal }: GateRequest, body) => {
    // Who may not call every tool may get a challenge instead of an answer.
    if (caller.scopes !== "all" || !hasPlainHeaders(incoming)) return left;
    const request = readPlain(body, "2026");
    if (request === undefined || !isSaidInHeaders(request, incoming)) return left;
    const parts = { options, handles, caller: () => caller, generation: "2026", session } as const;
    const client = createClient({ ...parts, mcp: () => undefined });
    const said = { mcpReq: { envelope: request.envelope ?? {} } };
    client.see(said);
    const capabilities = client.capabilities(said);
    const text = await answerPlain(request, { client, capabilities, serverInfo, options: { signal } });
    if (text === undefined) return left;
    if (!response.destroyed) send(response, text);
    return answered;
  };
}

function hasPlainHeaders({ method, headers }: IncomingMessage): boolean {
  return (
    method === "POST" &&
    headers["content-type"] === "application/json" &&
    headers["mcp-protocol-version"] === modernRevision &&
    headers["mcp-session-id"] === undefined
  );
}

/** The headers must say what the body says. A name that had to be encoded for a header is for the SDK. */
function isSaidInHeaders({ method, name }: PlainRequest, { headers }: IncomingMessage): boolean {
  const said = headers["mcp-name"];
  return headers["mcp-method"] === method && (method === "tools/call" ? said === name : said === undefined);
}

function send(response: ServerResponse, text: string): void {
  const bytes = Buffer.from(text);
  response.writeHead(200, { "content-type": "application/json", "content-length": bytes.length }).end(bytes);
}
