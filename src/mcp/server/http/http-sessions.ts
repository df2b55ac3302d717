import { randomBytes } from "node:crypto";

import {
  WebStandardStreamableHTTPServerTransport,
  isInitializeRequest,
  isJsonContentType,
} from "@modelcontextprotocol/server";

import { toScopesKey } from "../../../core/scopes.ts";
import type { Caller } from "../../../gate/gate.ts";
import type { McpServerEvent, McpServerLimits } from "../mcp-server-options.ts";
import type { ServedConnection } from "../serve-client.ts";
import type { SessionUse } from "../../../gate/sessions/user-sessions.ts";
import { createEventLog } from "./event-log.ts";
import { toErrorResponse, type WebRequest } from "./web-request.ts";

/** One session of a client of the 2025 generation over HTTP. */
export interface HttpSession {
  readonly id: string;
  /** Who opened it. */
  readonly caller: Caller;
  readonly transport: WebStandardStreamableHTTPServerTransport;
  readonly service: ServedConnection;
  /** Requests that are being answered, and streams that are open. */
  running: number;
  /** Whether its client listens for notices. */
  isListening: boolean;
  /** By `performance.now()`: a clock that is set must not make a session look old. */
  usedAt: number;
}

/** The sessions of clients of the 2025 generation over HTTP. */
export interface HttpSessions {
  /** `undefined` if there are as many as there may be, and all are in use; `use` is ended then. */
  open(caller: Caller, use: SessionUse): Promise<HttpSession | undefined>;
  /** `undefined` if there is no such session or it belongs to another caller: the answer does not tell which. */
  find(id: string, caller: Caller): HttpSession | undefined;
  readonly size: number;
  /** Closes the sessions that `caller` opened, the same object: its token is gone. */
  closeOf(caller: Caller): void;
  closeAll(): Promise<void>;
}

type Report = (event: McpServerEvent) => void;
type Serve = (caller: Caller, use: SessionUse, isListening: () => boolean) => ServedConnection;

/** How often unused sessions are looked for. */
const sweepMs = 10_000;

/**
 * Makes an empty set of sessions. One that was not used for a while is closed. Where there are too many, one makes room: of the
 * caller itself if it has too many, else of the caller that holds the most.
 */
export function createHttpSessions(limits: McpServerLimits, serve: Serve, report: Report = () => {}): HttpSessions {
  const sessions = new Map<string, HttpSession>();
  const sweep = setInterval(closeIdle, Math.min(sweepMs, limits.idleMs)).unref();

  function drop(session: HttpSession): void {
    if (sessions.delete(session.id)) session.service.close(session.usedAt);
  }

  function closeIdle(): void {
    const since = performance.now() - limits.idleMs;
    for (const { running, usedAt, transport } of sessions.values())
      if (running === 0 && usedAt <= since) void transport.close();
  }

  /** Makes room for one more session of a caller. Tells whether there is some. */
  function makeRoom({ id }: Caller): boolean {
    const held = Map.groupBy(sessions.values(), ({ caller }) => caller.id);
    const own = held.get(id) ?? [];
    const isOverOwn = own.length >= limits.maxSessionsPerCaller;
    if (!isOverOwn && sessions.size < limits.maxSessions) return true;
    const victim = isOverOwn ? findUnused(own) : findVictim(own, [...held.values()]);
    report(toEvent(victim, { caller: id, open: sessions.size }, held));
    void victim?.transport.close();
    return victim !== undefined;
  }

  return {
    async open(caller, use) {
      if (!makeRoom(caller)) {
        use.end();
        return undefined;
      }
      const session = createSession({ caller, use }, serve, drop);
      sessions.set(session.id, session);
      await session.service.mcp.connect(session.transport);
      return session;
    },
    find(id, caller) {
      const found = sessions.get(id);
      return found?.caller.id === caller.id ? found : undefined;
    },
    get size() {
      return sessions.size;
    },
    closeOf(caller) {
      for (const session of sessions.values()) if (session.caller === caller) void session.transport.close();
    },
    async closeAll() {
      clearInterval(sweep);
      await Promise.all([...sessions.values()].map(({ transport }) => transport.close()));
    },
  };
}

/** The session that was not used for longest, of those in which nothing runs; then of those whose client only listens. */
function findUnused(sessions: readonly HttpSession[]): HttpSession | undefined {
  const byUse = sessions.toSorted((one, other) => one.usedAt - other.usedAt);
  return (
    byUse.find(({ running }) => running === 0) ?? byUse.find(({ running, isListening }) => isListening && running === 1)
  );
}

/** Of the caller that holds the most and has one that is not in use; nothing is taken from one that holds fewer than `own`. */
function findVictim(own: readonly HttpSession[], held: readonly (readonly HttpSession[])[]): HttpSession | undefined {
  const others = held.filter((set) => set.length >= own.length);
  const sets = [own, ...others].toSorted((one, other) => other.length - one.length);
  for (const set of sets) {
    const found = findUnused(set);
    if (found !== undefined) return found;
  }
  return undefined;
}

function toEvent(
  victim: HttpSession | undefined,
  asked: { readonly caller: string; readonly open: number },
  held: ReadonlyMap<string, readonly HttpSession[]>,
): McpServerEvent {
  if (victim === undefined) return { type: "session-refused", ...asked };
  const caller = victim.caller.id;
  return { type: "session-dropped", ...asked, caller, held: held.get(caller)?.length ?? 0 };
}

function createSession(
  { caller, use }: { readonly caller: Caller; readonly use: SessionUse },
  serve: Serve,
  drop: (session: HttpSession) => void,
): HttpSession {
  const id = randomBytes(24).toString("base64url");
  const transport = new WebStandardStreamableHTTPServerTransport({
    sessionIdGenerator: () => id,
    eventStore: createEventLog(() => toScopesKey(session.service.client.caller.scopes)),
    // The gate has read the body, and says how large it may be.
    maxRequestBodySize: Number.MAX_SAFE_INTEGER,
  });
  const service = serve(caller, use, () => session.isListening);
  const session: HttpSession = {
    id,
    caller,
    transport,
    service,
    running: 0,
    isListening: false,
    usedAt: performance.now(),
  };
  Object.assign(service.mcp.server, { onclose: () => drop(session) });
  return session;
}

/** An answer, and what to do when it is written to its end. */
interface SessionAnswer {
  readonly answer: Response;
  /** Set if it belongs to a session that lives on. */
  readonly session?: HttpSession;
}

/** Answers a request of the 2025 generation: in its connection, or by opening one, which uses a session of the caller. */
export async function serveSession(
  sessions: HttpSessions,
  { request, body }: WebRequest,
  { caller, use }: { readonly caller: Caller; readonly use: () => SessionUse | undefined },
): Promise<SessionAnswer> {
  const id = request.headers.get("mcp-session-id");
  if (id === null) return serveFirst(sessions, { request, body }, { caller, use });
  const session = sessions.find(id, caller);
  if (session === undefined) return { answer: toErrorResponse(404, -32_001, "Session not found: begin a new one") };
  return serveIn(session, { request, body }, caller);
}

async function serveFirst(
  sessions: HttpSessions,
  web: WebRequest,
  { caller, use }: { readonly caller: Caller; readonly use: () => SessionUse | undefined },
): Promise<SessionAnswer> {
  const refusal = refuseFirst(web);
  if (refusal !== undefined) return { answer: refusal };
  const used = use();
  const session = used === undefined ? undefined : await sessions.open(caller, used);
  if (session === undefined) return { answer: refuseMore() };
  const served = await serveIn(session, web, caller);
  // The handshake failed, so the client has no session.
  if (served.answer.status >= 400) await session.transport.close();
  return served;
}

/** Every session is in use. */
export function refuseMore(): Response {
  const answer = toErrorResponse(503, -32_000, "Too many sessions are open: close one, or try again later");
  answer.headers.set("retry-after", "30");
  return answer;
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
