import { isInitializeRequest, isJsonContentType } from "@modelcontextprotocol/server";

import type { Caller } from "../../../gate/gate.ts";
import type { HttpSession, HttpSessions } from "./http-sessions.ts";
import { toErrorResponse, type WebRequest } from "./web-request.ts";

/** An answer, and what to do when it is written to its end. */
export interface SessionAnswer {
  readonly answer: Response;
  /** Set if it belongs to a session that lives on. */
  readonly session?: HttpSession;
}

/** Answers a request of the 2025 generation: in its session, or by opening one. */
export async function serveSession(
  sessions: HttpSessions,
  { request, body }: WebRequest,
  caller: Caller,
): Promise<SessionAnswer> {
  const id = request.headers.get("mcp-session-id");
  if (id === null) return serveFirst(sessions, { request, body }, caller);
  const session = sessions.find(id, caller);
  if (session === undefined) return { answer: toErrorResponse(404, -32_001, "Session not found: begin a new one") };
  return serveIn(session, { request, body }, caller);
}

async function serveFirst(sessions: HttpSessions, web: WebRequest, caller: Caller): Promise<SessionAnswer> {
  const refusal = refuseFirst(web);
  if (refusal !== undefined) return { answer: refusal };
  const session = await sessions.open(caller);
  if (session === undefined) {
    const answer = toErrorResponse(503, -32_000, "Too many sessions are open: close one, or try again later");
    answer.headers.set("retry-after", "30");
    return { answer };
  }
  const served = await serveIn(session, web, caller);
  // A session that did not begin is none.
  if (served.answer.status >= 400) await session.transport.close();
  return served;
}

/** Only the handshake may come without a session. */
function refuseFirst({ request, body }: WebRequest): Response | undefined {
  const { method, headers } = request;
  if (method === "POST" && !isJsonContentType(headers.get("content-type"))) {
    return toErrorResponse(415, -32_000, "Unsupported Media Type: Content-Type must be application/json");
  }
  if (method === "POST" && body === undefined)
    return toErrorResponse(400, -32_700, "Parse error: the body is not JSON");
  if (isInitializeRequest(body)) return undefined;
  return toErrorResponse(400, -32_000, "Bad Request: Mcp-Session-Id header is required; begin with initialize");
}

async function serveIn(session: HttpSession, { request, body }: WebRequest, caller: Caller): Promise<SessionAnswer> {
  session.usedAt = performance.now();
  const answer = await session.service.actAs(caller, () =>
    session.transport.handleRequest(request, body === undefined ? {} : { parsedBody: body }),
  );
  return { answer, session };
}
