import { once } from "node:events";
import { PassThrough } from "node:stream";
import { createInterface } from "node:readline";

import {
  isInitializeRequest,
  isJSONRPCRequest,
  isJSONRPCResponse,
  WebStandardStreamableHTTPServerTransport,
  type JSONRPCMessage,
  type RequestId,
} from "@modelcontextprotocol/server";
import type { GateRequest, McpServing, Route } from "kitbag/mcp";

/** A route behind which each session is a client on stdio: the suite speaks HTTP only. */
export function createStdioBridge(server: McpServing): Route {
  const sessions = new Map<string, WebStandardStreamableHTTPServerTransport>();

  async function open(): Promise<WebStandardStreamableHTTPServerTransport> {
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => crypto.randomUUID(),
      onsessioninitialized: (id) => void sessions.set(id, transport),
    });
    await joinStdio(server, transport);
    return transport;
  }

  return {
    path: "/mcp",
    async handle(request) {
      const body = request.incoming.method === "POST" ? await request.readBody() : undefined;
      const parsed = body === undefined ? undefined : (JSON.parse(body.toString()) as unknown);
      const known = sessions.get(String(request.incoming.headers["mcp-session-id"]));
      const transport = known ?? (isInitializeRequest(parsed) ? await open() : undefined);
      if (transport === undefined) return void request.response.writeHead(404).end();
      const headers = Object.entries(request.incoming.headers).map(([name, value]): [string, string] => [
        name,
        String(value),
      ]);
      const web = new Request(`http://localhost${request.path}`, { method: request.incoming.method ?? "GET", headers });
      await send(request, await transport.handleRequest(web, { parsedBody: parsed }));
    },
  };
}

async function send({ response, signal }: GateRequest, answer: Response): Promise<void> {
  response.writeHead(answer.status, Object.fromEntries(answer.headers));
  response.flushHeaders();
  const reader = answer.body?.getReader();
  signal.addEventListener("abort", () => void reader?.cancel());
  for (let read = await reader?.read(); read?.done === false; read = await reader?.read()) {
    if (!response.write(read.value)) await once(response, "drain");
  }
  response.end();
}

/** Joins a transport to a server on stdio. What the server says in between belongs to the request that came last. */
async function joinStdio(server: McpServing, transport: WebStandardStreamableHTTPServerTransport): Promise<void> {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const serving = await server.serveStdio({ input, output });
  const open: RequestId[] = [];
  Object.assign(transport, {
    onmessage(message: JSONRPCMessage) {
      if (isJSONRPCRequest(message)) open.push(message.id);
      input.write(`${JSON.stringify(message)}\n`);
    },
    onclose: () => void serving.close(),
  });
  createInterface({ input: output }).on("line", (line) => {
    const message = JSON.parse(line) as JSONRPCMessage;
    const last = open.at(-1);
    const related =
      isJSONRPCResponse(message) || isListChange(message) || last === undefined ? {} : { relatedRequestId: last };
    if (isJSONRPCResponse(message)) open.splice(open.indexOf(message.id as RequestId), 1);
    void transport.send(message, related);
  });
  await transport.start();
}

function isListChange(message: JSONRPCMessage): boolean {
  return "method" in message && message.method.endsWith("/list_changed");
}
