import { randomBytes } from "node:crypto";

import { WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/server";

import type { Caller } from "../../../gate/gate.ts";
import type { McpServerLimits } from "../mcp-server-options.ts";
import type { ServedConnection } from "../services.ts";
import { createEventLog } from "./event-log.ts";

/** One session of a client of the 2025 generation over HTTP. */
export interface HttpSession {
  readonly id: string;
  readonly callerId: string;
  readonly transport: WebStandardStreamableHTTPServerTransport;
  readonly service: ServedConnection;
  /** Requests that are being answered, and streams that are open. */
  running: number;
  /** Whether its client listens for notices. */
  isListening: boolean;
  usedAt: number;
  /** Requests that are being answered without the SDK, by their numbers, and what ends them. */
  readonly plain: Map<string | number, AbortController>;
}

/** The sessions of clients of the 2025 generation over HTTP. */
export interface HttpSessions {
  /** `undefined` if there are as many as there may be. */
  open(caller: Caller): Promise<HttpSession | undefined>;
  /** `undefined` if there is none, or it is somebody else's: nobody learns which. */
  find(id: string, caller: Caller): HttpSession | undefined;
  readonly size: number;
  closeAll(): Promise<void>;
}

type Serve = (caller: Caller, isListening: () => boolean) => ServedConnection;

/** How often sessions that nobody uses are looked for. */
const sweepMs = 10_000;

/** Makes an empty set of sessions. One that nobody has used for a while is closed, and one of the same caller if they have too many. */
export function createHttpSessions(limits: McpServerLimits, serve: Serve): HttpSessions {
  const sessions = new Map<string, HttpSession>();
  const closing = new Set<Promise<void>>();
  const sweep = setInterval(closeIdle, Math.min(sweepMs, limits.idleMs));
  sweep.unref();

  function drop(session: HttpSession): void {
    if (!sessions.delete(session.id)) return;
    for (const stop of session.plain.values()) stop.abort(new Error("The session is over"));
    const closed = session.service.close().finally(() => closing.delete(closed));
    closing.add(closed);
  }

  function closeIdle(): void {
    const since = Date.now() - limits.idleMs;
    for (const session of sessions.values()) {
      if (session.running === 0 && session.usedAt <= since) void session.transport.close();
    }
  }

  /** Makes room among the caller's own, the longest unused first. Tells whether there is some. */
  function makeRoom(caller: Caller): boolean {
    const own = [...sessions.values()].filter(({ callerId }) => callerId === caller.id);
    const unused = own.filter(({ running }) => running === 0).toSorted((one, other) => one.usedAt - other.usedAt);
    const [oldest] = unused;
    if (own.length >= limits.maxSessionsPerCaller) {
      if (oldest === undefined) return false;
      void oldest.transport.close();
    }
    return sessions.size < limits.maxSessions;
  }

  return {
    async open(caller) {
      if (!makeRoom(caller)) return undefined;
      const session = createSession(caller, serve, drop);
      sessions.set(session.id, session);
      await session.service.mcp.connect(session.transport);
      return session;
    },
    find(id, caller) {
      const found = sessions.get(id);
      return found?.callerId === caller.id ? found : undefined;
    },
    get size() {
      return sessions.size;
    },
    async closeAll() {
      clearInterval(sweep);
      await Promise.all([...sessions.values()].map(({ transport }) => transport.close()));
      await Promise.all(closing);
    },
  };
}

function createSession(caller: Caller, serve: Serve, drop: (session: HttpSession) => void): HttpSession {
  const id = randomBytes(24).toString("base64url");
  const transport = new WebStandardStreamableHTTPServerTransport({
    sessionIdGenerator: () => id,
    eventStore: createEventLog(),
    // The gate has read the body, and says how large it may be.
    maxRequestBodySize: Number.MAX_SAFE_INTEGER,
  });
  const service = serve(caller, () => session.isListening);
  const session: HttpSession = {
    id,
    callerId: caller.id,
    transport,
    service,
    running: 0,
    isListening: false,
    usedAt: Date.now(),
    plain: new Map(),
  };
  Object.assign(service.mcp.server, { onclose: () => drop(session) });
  return session;
}
