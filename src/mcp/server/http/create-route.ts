import { isLegacyRequest } from "@modelcontextprotocol/server";

import type { Caller, GateRequest, Route } from "../../../gate/gate.ts";
import type { Workspace } from "../../../workspace/workspace.ts";
import { mayCallTool, toToolScopes } from "../../../core/scopes.ts";
import { isNoticeEvent } from "./event-log.ts";
import type { HttpSession, HttpSessions } from "./http-sessions.ts";
import type { ModernService } from "./serve-modern.ts";
import { serveSession } from "./serve-session.ts";
import type { AnswerPlainHttp } from "../plain/plain-http.ts";
import { methodOf, readMessage, toWebRequest, writeWebResponse, type ReadBody } from "./web-request.ts";

/** What answers requests over HTTP. */
export interface RouteParts {
  readonly workspace: Workspace;
  /** The 2026 generation. */
  readonly modern: Pick<ModernService, "answer">;
  /** The 2025 generation. */
  readonly sessions: HttpSessions;
  /** Ends what is kept for a caller whose token is gone. */
  readonly onCallerGone: (caller: Caller) => void;
  /** Plain requests of the 2026 generation. */
  readonly answerPlain: AnswerPlainHttp;
}

/** Makes the route of the gate that speaks MCP: both generations at one path. */
export function createRoute(
  path: string,
  { workspace, modern, sessions, answerPlain, onCallerGone }: RouteParts,
): Route {
  /** Streams on which nobody waits for an answer: they end when the gate closes. */
  const streams = new Set<AbortController>();

  async function answer(request: GateRequest, read: ReadBody): Promise<void> {
    const { caller, response } = request;
    const web = toWebRequest(request, read);
    if (await isLegacyRequest(web.request, web.body)) {
      const served = await serveSession(sessions, web, caller);
      await write(request, served.answer, { isStream: isNoticeStream(web.request), session: served.session });
      return;
    }
    const { answer: made, isStream, end } = await modern.answer(web, caller);
    try {
      if (!response.headersSent) await write(request, made, { isStream });
    } finally {
      end();
    }
  }

  async function write(
    { response, signal }: GateRequest,
    made: Response,
    { isStream, session }: { readonly isStream: boolean; readonly session?: HttpSession | undefined },
  ): Promise<void> {
    const stop = new AbortController();
    const isOpen = isStream && made.status === 200;
    if (isOpen) streams.add(stop);
    const end = session === undefined ? undefined : beginUse(session, isOpen);
    try {
      await writeWebResponse(made, response, AbortSignal.any([signal, stop.signal]));
    } finally {
      streams.delete(stop);
      end?.();
    }
  }

  return {
    path,
    async handle(request) {
      if (!methods.has(request.incoming.method ?? "")) return refuseMethod(request);
      const read = await readMessage(request);
      if (await answerPlain(request, read.body)) return;
      const scopes = findMissingScopes(workspace, request.caller, read.body);
      if (scopes === undefined) await answer(request, read);
      else request.refuseScope(scopes);
    },
    renderRefusal: ({ message }) => JSON.stringify({ jsonrpc: "2.0", error: { code: -32_000, message }, id: null }),
    onCallerGone,
    onClosing: () => streams.forEach((stream) => stream.abort()),
  };
}

/** Tells whether a client listens for notices, and does not come back for an answer that it missed. */
function isNoticeStream({ method, headers }: Request): boolean {
  const last = headers.get("last-event-id");
  return method === "GET" && (last === null || isNoticeEvent(last));
}

const methods = new Set(["GET", "POST", "DELETE"]);

/** Before anything is made of the request: some methods cannot even be written down for the SDK. */
function refuseMethod({ response }: GateRequest): void {
  const body = { jsonrpc: "2.0", error: { code: -32_000, message: "Method not allowed" }, id: null };
  const headers = { "content-type": "application/json", allow: [...methods].join(", ") };
  response.writeHead(405, headers).end(JSON.stringify(body));
}

/** A session is in use until its answer is written; a client that listens gets what it missed before. */
function beginUse(session: HttpSession, isListening: boolean): () => void {
  session.running += 1;
  if (isListening) {
    session.isListening = true;
    session.service.notifier.catchUp();
  }
  return () => {
    session.running -= 1;
    session.usedAt = performance.now();
    if (isListening) session.isListening = false;
  };
}

/** The scopes of which a caller needs one for the tool that it calls. What it calls through `call_tool` is refused in the answer. */
function findMissingScopes(workspace: Workspace, caller: Caller, body: unknown): readonly string[] | undefined {
  if (caller.scopes === "all" || methodOf(body) !== "tools/call") return undefined;
  const { name } = ((body as { params?: unknown }).params ?? {}) as { readonly name?: unknown };
  const entry = typeof name === "string" ? workspace.getTool(name) : undefined;
  return entry === undefined || mayCallTool(caller.scopes, entry) ? undefined : toToolScopes(entry);
}
