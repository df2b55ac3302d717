import type { CallToolResult } from "@modelcontextprotocol/server";

import type { GateRequest, IncomingMessage, ServerResponse } from "../../../gate/gate.ts";
import { toServerInfo } from "../create-instance.ts";
import { answerPlain } from "../lean/answer-plain.ts";
import { holdEvents } from "../lean/held-events.ts";
import { answered, left, type LeanAnswer, type LeanHttp } from "../lean/lean-answer.ts";
import { readCancelled } from "../lean/parse-line.ts";
import { readPlain, type PlainRequest } from "../lean/plain-request.ts";
import type { Services } from "../services.ts";
import type { HttpSession, HttpSessions } from "./http-sessions.ts";
import { methodOf } from "./web-request.ts";

/** A call that takes longer goes on in the SDK, whose answer a client can come back for when its connection broke. */
const quickMs = 100;

const revisions = new Set(["2025-11-25", "2025-06-18", "2025-03-26"]);

/**
 * Makes what answers plain requests in sessions of the 2025 generation without the SDK: with one message as JSON instead of a stream
 * of one event. A call that is not quick, or whose tools log something, is handed to the SDK while it runs.
 */
export function createLeanSessions(services: Services, sessions: HttpSessions): LeanHttp {
  const { options } = services;
  // What the host puts in place of a method is known to the SDK alone.
  if (options.extend !== undefined) return () => Promise.resolve(left);
  const serverInfo = JSON.stringify(toServerInfo(options));

  return async ({ incoming, response, caller }: GateRequest, body) => {
    const id = incoming.headers["mcp-session-id"];
    // Who may not call every tool may get a challenge instead of an answer.
    if (typeof id !== "string" || caller.scopes !== "all" || !hasPlainHeaders(incoming)) return left;
    const session = sessions.find(id, caller);
    // A client that has not said who it is has not begun.
    if (session?.service.client.info() === undefined) return left;
    if (methodOf(body) === "notifications/cancelled") return cancel(session, body);
    const request = readPlain(body, "2025");
    if (request === undefined || session.plain.has(request.id)) return left;
    return session.service.actAs(caller, () => answerInSession(services, { session, request, response, serverInfo }));
  };
}

/** Whoever answers the request, the SDK answers that it was heard. */
function cancel({ plain }: HttpSession, body: unknown): LeanAnswer {
  plain.get(readCancelled(body) ?? "")?.abort(new Error("Cancelled by the client"));
  return left;
}

interface InSession {
  readonly session: HttpSession;
  readonly request: PlainRequest;
  readonly response: ServerResponse;
  readonly serverInfo: string;
}

async function answerInSession({ calls }: Services, given: InSession): Promise<LeanAnswer> {
  const { session, request, response, serverInfo } = given;
  const { client } = session.service;
  const stop = new AbortController();
  const events = holdEvents();
  const end = calls.running.begin(client.caller, (reason) => stop.abort(reason));
  session.plain.set(request.id, stop);
  session.running += 1;
  const text = answerPlain(request, {
    client,
    capabilities: client.capabilities({ mcpReq: { envelope: {} } }),
    serverInfo,
    options: { signal: stop.signal, onEvent: events.onEvent },
  }).finally(() => {
    end();
    session.plain.delete(request.id);
    session.running -= 1;
    session.usedAt = performance.now();
  });
  const quick = await whileQuick(text, events.spoken);
  if (quick === "slow") {
    const result = text.then((whole) => (JSON.parse(whole ?? "{}") as { readonly result: CallToolResult }).result);
    // Whoever takes the call hears of it; if nobody does, it was stopped.
    result.catch(() => {});
    const adopted = { result, listen: events.listen, stop: (reason: unknown) => stop.abort(reason) };
    return { isAnswered: false, end: calls.adopted.put(client, request.id, adopted) };
  }
  if (quick === undefined) return left;
  send(response, session.id, stop.signal.aborted ? undefined : quick);
  return answered;
}

/** Waits a moment for a call that says nothing. */
function whileQuick(text: Promise<string | undefined>, spoken: Promise<void>): Promise<string | undefined> {
  return new Promise((resolve, reject) => {
    const late = setTimeout(resolve, quickMs, "slow");
    void spoken.then(() => resolve("slow"));
    text.then(resolve, reject).finally(() => clearTimeout(late));
  });
}

function hasPlainHeaders({ method, headers }: IncomingMessage): boolean {
  const { accept = "" } = headers;
  return (
    method === "POST" &&
    headers["content-type"] === "application/json" &&
    revisions.has(String(headers["mcp-protocol-version"])) &&
    accept.includes("application/json") &&
    accept.includes("text/event-stream")
  );
}

/** What was cancelled is not answered, but its request ends. */
function send(response: ServerResponse, session: string, text: string | undefined): void {
  if (response.destroyed) return;
  const bytes = Buffer.from(text ?? "");
  response
    .writeHead(200, {
      "content-type": text === undefined ? "text/event-stream" : "application/json",
      "content-length": bytes.length,
      "mcp-session-id": session,
    })
    .end(bytes);
}
