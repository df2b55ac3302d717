import { createHash, randomBytes } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

import { onTestFinished } from "vitest";

/** A tiny authorization server that lets everybody in, and an MCP server behind it that takes only its tokens. */
export interface OAuthServer {
  readonly url: string;
  /** How often each kind of token was asked for. */
  readonly grants: string[];
  /** How clients proved who they are when they asked for tokens; empty for one that did not. */
  readonly proofs: string[];
  /** Every access token that is given out from now on is of no use at once, so that it must be renewed. */
  expire(): void;
}

const tool = { name: "whoami", description: "Tells who is logged in", inputSchema: { type: "object", properties: {} } };

/** The tokens and codes that were given out. */
function createDesk(): {
  readonly tokens: Set<string>;
  readonly grants: string[];
  authorize(ask: URLSearchParams): string;
  exchange(form: URLSearchParams): object | undefined;
} {
  const tokens = new Set<string>();
  const challenges = new Map<string, string>();
  const grants: string[] = [];

  function give(grant: string): object {
    const token = randomBytes(12).toString("hex");
    tokens.add(token);
    grants.push(grant);
    return { access_token: token, token_type: "Bearer", expires_in: 3600, refresh_token: `r-${token}` };
  }

  return {
    tokens,
    grants,
    authorize(ask) {
      const code = randomBytes(8).toString("hex");
      challenges.set(code, ask.get("code_challenge") ?? "");
      const back = new URL(ask.get("redirect_uri") ?? "");
      back.searchParams.set("code", code);
      back.searchParams.set("state", ask.get("state") ?? "");
      return back.href;
    },
    exchange(form) {
      const grant = form.get("grant_type") ?? "";
      if (grant === "refresh_token")
        return form.get("refresh_token")?.startsWith("r-") === true ? give(grant) : undefined;
      if (grant === "client_credentials") return give(grant);
      const proof = createHash("sha256")
        .update(form.get("code_verifier") ?? "")
        .digest("base64url");
      return challenges.get(form.get("code") ?? "") === proof ? give(grant) : undefined;
    },
  };
}

/** Opens both on the loopback address, until the test ends. `said` is what its metadata say instead of the truth. */
export async function openOAuthServer(said: Readonly<Record<string, unknown>> = {}): Promise<OAuthServer> {
  const { tokens, grants, authorize, exchange } = createDesk();
  const proofs: string[] = [];
  const server = createServer((request, response) => void answer(request, response));
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  onTestFinished(
    () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  );
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const about = `${url}/.well-known/oauth-protected-resource/mcp`;

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url ?? "/", url);
    const body = await readAll(request);
    const pages: Record<string, () => void> = {
      "/.well-known/oauth-protected-resource/mcp": () =>
        json(response, 200, { resource: `${url}/mcp`, authorization_servers: [url], ...said }),
      "/.well-known/oauth-authorization-server": () => json(response, 200, { ...metadata(url), ...said }),
      "/register": () => json(response, 201, { ...(JSON.parse(body) as object), client_id: "made-up" }),
      "/authorize": () => void response.writeHead(302, { location: authorize(searchParams) }).end(),
      "/token": () => {
        proofs.push(request.headers.authorization ?? "");
        const given = exchange(new URLSearchParams(body));
        json(response, given === undefined ? 400 : 200, given ?? { error: "invalid_grant" });
      },
      "/mcp": () => {
        if (tokens.has((request.headers.authorization ?? "").replace("Bearer ", "")))
          return speak(request, response, body);
        response.setHeader("www-authenticate", `Bearer resource_metadata="${about}"`);
        json(response, 401, { error: "invalid_token" });
      },
    };
    (pages[pathname] ?? (() => json(response, 404, {})))();
  }

  return { url: `${url}/mcp`, grants, proofs, expire: () => tokens.clear() };
}

function metadata(url: string): object {
  return {
    issuer: url,
    authorization_endpoint: `${url}/authorize`,
    token_endpoint: `${url}/token`,
    registration_endpoint: `${url}/register`,
    response_types_supported: ["code"],
    code_challenge_methods_supported: ["S256"],
    grant_types_supported: ["authorization_code", "refresh_token", "client_credentials"],
  };
}

function speak(request: IncomingMessage, response: ServerResponse, body: string): void {
  if (request.method !== "POST") return json(response, 405, {});
  const { id, method, params } = JSON.parse(body) as {
    id?: number;
    method: string;
    params?: { protocolVersion?: string };
  };
  if (id === undefined) return void response.writeHead(202).end();
  const results: Record<string, object> = {
    initialize: {
      protocolVersion: params?.protocolVersion,
      serverInfo: { name: "guarded", version: "1.0.0" },
      capabilities: { tools: {} },
    },
    "tools/list": { tools: [tool] },
    "tools/call": { content: [{ type: "text", text: "Ada" }] },
  };
  const result = results[method];
  const error = { code: -32601, message: "Method not found" };
  json(response, 200, { jsonrpc: "2.0", id, ...(result === undefined ? { error } : { result }) });
}

function json(response: ServerResponse, status: number, value: object): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value));
}

async function readAll(request: IncomingMessage): Promise<string> {
  let text = "";
  for await (const chunk of request) text += String(chunk);
  return text;
}
