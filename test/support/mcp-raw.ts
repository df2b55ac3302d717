/** Requests as anybody can write them, right or wrong. */

const headers2025 = { "content-type": "application/json", accept: "application/json, text/event-stream" };

/** Posts a message, or a text that is none, as a client of 2025 would. */
export function post(url: string, message: object | string, headers: Record<string, string> = {}): Promise<Response> {
  const body = typeof message === "string" ? message : JSON.stringify(message);
  return fetch(url, { method: "POST", headers: { ...headers2025, ...headers }, body });
}

/** What may be other than usual about a request. */
export interface Post2026Options {
  readonly signal?: AbortSignal;
  readonly headers?: Record<string, string>;
  /** Changes the text of the message, to what no object could be. */
  readonly edit?: (body: string) => string;
}

/** Posts a request as a client of 2026 would. */
export function post2026(
  url: string,
  method: string,
  params: Record<string, unknown> = {},
  { signal, headers = {}, edit = (body) => body }: Post2026Options = {},
): Promise<Response> {
  const meta = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": { name: "raw", version: "1" },
  };
  const message = {
    jsonrpc: "2.0",
    id: 7,
    method,
    params: { ...params, _meta: { ...meta, ...(params["_meta"] as object) } },
  };
  const name = params["name"] ?? params["uri"];
  return fetch(url, {
    method: "POST",
    headers: {
      ...headers2025,
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": method,
      ...(typeof name === "string" && { "mcp-name": name }),
      ...headers,
    },
    body: edit(JSON.stringify(message)),
    ...(signal !== undefined && { signal }),
  });
}

/** The first message of a client of 2025. */
export function initialize(capabilities: object = {}): object {
  const params = { protocolVersion: "2025-11-25", capabilities, clientInfo: { name: "raw", version: "1" } };
  return { jsonrpc: "2.0", id: 1, method: "initialize", params };
}

/** Begins a session, and answers with its id. */
export async function beginSession(url: string, headers: Record<string, string> = {}): Promise<string> {
  const begun = await post(url, initialize(), headers);
  await begun.text();
  const session = begun.headers.get("mcp-session-id") ?? "";
  const ready = { jsonrpc: "2.0", method: "notifications/initialized" };
  await post(url, ready, { ...headers, "mcp-session-id": session });
  return session;
}

/** The message in an answer, whether it is JSON or a stream of events. */
export async function readAnswer(response: Response): Promise<Record<string, unknown>> {
  const text = await response.text();
  const lines = text.split("\n").filter((line) => line.startsWith("data: {"));
  return JSON.parse(lines.at(-1)?.slice(6) ?? text) as Record<string, unknown>;
}
