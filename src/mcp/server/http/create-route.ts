import { isLegacyRequest } from "@modelcontextprotocol/server";

import { mayCallTool, toToolScopes } from "../../../core/scopes.ts";
import type { Caller, GateRequest, Route } from "../../../gate/gate.ts";
import type { Workspace } from "../../../workspace/workspace.ts";
import type { AnswerPlainHttp } from "../plain/plain-http.ts";
import { isNoticeEvent } from "./event-log.ts";
import { readSessionName, type SessionUse, type UserSessions } from "../../../gate/sessions/user-sessions.ts";
import { refuseMore, serveSession, type HttpSession, type HttpSessions } from "./http-sessions.ts";
import type { ModernService } from "./serve-modern.ts";
import {
  methodOf,
  readMessage,
  toErrorResponse,
  toWebRequest,
  writeWebResponse,
  type ReadBody,
} from "./web-request.ts";

/** What answers requests over HTTP. */
export interface RouteParts {
  readonly workspace: Workspace;
  /** Plain requests of the 2026 generation. */
  readonly answerPlain: AnswerPlainHttp;
  /** The 2026 generation. */
  readonly modern: Pick<ModernService, "answer">;
  /** The 2025 generation. */
  readonly sessions: HttpSessions;
  /** Which skills the users have open, in both generations. */
  readonly users: UserSessions;
  /** Ends what is kept for a caller whose token was revoked. */
  readonly onCallerGone: (caller: Caller) => void;
  /** Ends all calls that run. */
  readonly onCut: () => void;
}

const methods = new Set(["GET", "POST", "DELETE"]);

/** Makes the route of the gate that speaks MCP: both generations at one path. */
export function createRoute(path: string, parts: RouteParts): Route {
  /** The streams without a pending answer: they end when the gate closes. */
  const streams = new Set<AbortController>();

  return {
    path,
    async handle(request) {
      if (!methods.has(request.incoming.method ?? "")) return refuseMethod(request);
      const read = await readMessage(request);
      const name = readSessionName(request.query, request.incoming.headers);
      if (name === undefined) return write(request, refuseName(), aside, streams);
      const use = (): SessionUse | undefined => parts.users.use(request.caller, name);
      if (await parts.answerPlain(request, read.body, use)) return;
      const scopes = findMissingScopes(parts.workspace, request.caller, read.body);
      if (scopes === undefined) await answer({ request, read, use }, parts, streams);
      else request.refuseScope(scopes);
    },
    renderRefusal: ({ message }) => JSON.stringify({ jsonrpc: "2.0", error: { code: -32_000, message }, id: null }),
    onCallerGone: parts.onCallerGone,
    onCut: parts.onCut,
    onClosing: () => streams.forEach((stream) => stream.abort()),
  };
}

function refuseName(): Response {
  const expected = "expected at most 64 letters, digits and any of . : @ - _";
  return toErrorResponse(
    400,
    -32_600,
    `Invalid Request: cannot use "session" of the URL as the name of a session: ${expected}`,
  );
}

/** A request, what was read of it, and how it uses the session of its user. */
interface RouteRequest {
  readonly request: GateRequest;
  readonly read: ReadBody;
  readonly use: () => SessionUse | undefined;
}

async function answer(
  { request, read, use }: RouteRequest,
  { sessions, modern }: RouteParts,
  streams: Set<AbortController>,
): Promise<void> {
  const web = toWebRequest(request, read);
  const { caller } = request;
  if (await isLegacyRequest(web.request, web.body)) {
    const { answer: made, session } = await serveSession(sessions, web, { caller, use });
    return write(request, made, { isStream: isNoticeStream(web.request), session }, streams);
  }
  const used = use();
  if (used === undefined) return write(request, refuseMore(), aside, streams);
  try {
    const { answer: made, isStream, end } = await modern.answer(web, { caller, use: used });
    try {
      if (!request.response.headersSent) await write(request, made, { ...aside, isStream }, streams);
    } finally {
      end();
    }
  } finally {
    used.end();
  }
}

interface AnswerKind {
  /** Whether the answer is a stream of notifications, which goes on until the client leaves. */
  readonly isStream: boolean;
  readonly session: HttpSession | undefined;
}

/** An answer that is no stream and belongs to no connection. */
const aside: AnswerKind = { isStream: false, session: undefined };

async function write(
  { response, signal }: GateRequest,
  made: Response,
  { isStream, session }: AnswerKind,
  streams: Set<AbortController>,
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

/** Tells whether a client listens for notifications, rather than coming back for an answer that it missed. */
function isNoticeStream({ method, headers }: Request): boolean {
  const last = headers.get("last-event-id");
  return method === "GET" && (last === null || isNoticeEvent(last));
}

/** Before a `Request` is made for the SDK: it cannot have some methods. */
function refuseMethod({ response }: GateRequest): void {
  const body = { jsonrpc: "2.0", error: { code: -32_000, message: "Method not allowed" }, id: null };
  const headers = { "content-type": "application/json", allow: [...methods].join(", ") };
  response.writeHead(405, headers).end(JSON.stringify(body));
}

/** A session is in use until its answer is written; a client that starts to listen gets the notifications it missed. */
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

/** The scopes of which a caller needs one for the tool that it calls. A call through `call_tool` is refused in its result instead. */
function findMissingScopes(workspace: Workspace, caller: Caller, body: unknown): readonly string[] | undefined {
  if (caller.scopes === "all" || methodOf(body) !== "tools/call") return undefined;
  const { name } = ((body as { params?: unknown }).params ?? {}) as { readonly name?: unknown };
  const entry = typeof name === "string" ? workspace.getTool(name) : undefined;
  return entry === undefined || mayCallTool(caller.scopes, entry) ? undefined : toToolScopes(entry);
}
