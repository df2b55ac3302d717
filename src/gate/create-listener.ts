import type { IncomingMessage, ServerResponse } from "node:http";

import { isKitbagError, quote } from "../core/errors.ts";
import { type Access, type Denial, isDenial } from "./access/access.ts";
import type { Challenge } from "./access/challenge.ts";
import { localCaller } from "./access/token-check.ts";
import type { Caller, GateEvent, GateLimits, Refusal, RequestEnd, Route } from "./gate.ts";
import type { Buckets } from "./limits/buckets.ts";
import type { Connection, Connections } from "./limits/connections.ts";
import type { OriginKind } from "./origin.ts";
import { allowPage, isPreflight, sendPreflight } from "./request/pages.ts";
import { PassedRequest, describeTooLarge, type Checked, type RequestParts } from "./request/gate-request.ts";
import { requestIdHeader, toRequestId } from "./request/request-id.ts";
import { sendRefusal, type SentRefusal } from "./request/send-refusal.ts";
import { type PublicAnswers, toPublicPath } from "./public-answers.ts";

/** What requests are let in with. */
export interface ListenerParts {
  readonly head: HeadParts;
  readonly access: Access;
  readonly challenge: Challenge;
  readonly connections: Connections;
  readonly addresses: Buckets | undefined;
  readonly callers: Buckets | undefined;
  readonly bodies: RequestParts["bodies"];
  readonly findRoute: (path: string) => Route | undefined;
  readonly publicAnswers: PublicAnswers;
  readonly report: (event: GateEvent) => void;
  readonly onRequestEnd: ((end: RequestEnd) => void) | undefined;
}

/** Takes requests from node. */
export interface Listener {
  readonly running: number;
  take(incoming: IncomingMessage, response: ServerResponse): void;
  /** Cuts the requests whose callers would not be let in any more. */
  cutRefused(): void;
  /** Refuses what comes from now on, and calls `onIdle` whenever a running request has ended. */
  close(onIdle: () => void): void;
}

/** A request on its way through the checks, and until its answer is over. */
interface Visit extends Checked {
  readonly connection: Connection;
  readonly nowMs: number;
  /** Set once it is found. */
  route?: Route;
  /** Set once the caller was let in. */
  caller?: Caller;
}

/** Makes what stands between node and the routes: every check, in the order that costs least. */
export function createListener(parts: ListenerParts): Listener {
  let running = 0;
  let onIdle: (() => void) | undefined;
  const visits = new Map<ServerResponse, Visit>();

  const ended = function requestEnded(this: ServerResponse): void {
    running -= 1;
    const visit = visits.get(this);
    visits.delete(this);
    if (visit !== undefined) parts.onRequestEnd?.(toEnd(visit));
    const connection = parts.connections.find(this.req.socket);
    if (connection !== undefined) connection.running -= 1;
    onIdle?.();
  };
  const requestParts = toRequestParts(parts);
  const pass = (visit: Visit, route: Route, caller: Caller): void => {
    const refusal = checkCaller(parts, visit, caller);
    if (refusal !== undefined) {
      refuse(parts, visit, refusal, route);
      return;
    }
    visit.caller = caller;
    runRoute(parts, route, new PassedRequest(visit, caller, requestParts));
  };

  return {
    get running() {
      return running;
    },
    take(incoming, response) {
      const connection = parts.connections.find(incoming.socket);
      // The connection was cut in the same turn in which its request was read.
      if (connection === undefined) return;
      running += 1;
      connection.running += 1;
      response.on("close", ended);
      const visit = toVisit(incoming, response, connection);
      visits.set(response, visit);
      response.setHeader(requestIdHeader, visit.requestId);
      if (onIdle !== undefined) refuse(parts, visit, { status: 503, message: "this service is being stopped" });
      else enter(parts, visit, pass);
    },
    cutRefused() {
      for (const [response, { caller }] of visits)
        if (caller !== undefined && !parts.access.isGood(caller)) cut(parts, response, caller);
    },
    close(whenIdle) {
      onIdle = whenIdle;
    },
  };
}

function toRequestParts(parts: ListenerParts): RequestParts {
  return {
    bodies: parts.bodies,
    refuseScope(request, scopes) {
      const message = `the token lacks the scope ${scopes.join(" ")}`;
      const challenge = parts.challenge.render({ error: "insufficient_scope", scopes });
      const route = parts.findRoute(request.path);
      sendRefusal(request.incoming, request.response, { status: 403, message, challenge, keep: true }, route);
    },
  };
}

/** Finds out that a caller must wait, sends too much or holds too many connections. */
function checkCaller(parts: ListenerParts, visit: Visit, caller: Caller): SentRefusal | undefined {
  const waitMs = caller === localCaller ? 0 : takeOne(parts.callers, caller.id, visit.nowMs);
  const refusal = waitMs > 0 ? tooMany(waitMs) : checkLength(visit.incoming, parts.head);
  if (refusal !== undefined || parts.connections.letIn(visit.incoming.socket, caller)) return refusal;
  return { status: 429, message: "too many connections of this caller are in use; close some" };
}

/** Where it stands in its answer only the route knows, so there is no way to say why. */
function cut(parts: ListenerParts, { req: { socket } }: ServerResponse, { id }: Caller): void {
  const address = socket.remoteAddress ?? "";
  parts.report({ type: "client-cut", reason: `the token of ${id} is no longer good for it`, address });
  socket.destroy();
}

function toVisit(incoming: IncomingMessage, response: ServerResponse, connection: Connection): Visit {
  const url = incoming.url ?? "";
  const mark = url.indexOf("?");
  const path = mark === -1 ? url : url.slice(0, mark);
  const query = mark === -1 ? "" : url.slice(mark + 1);
  const requestId = toRequestId(incoming.headers[requestIdHeader]);
  return { incoming, response, path, query, requestId, connection, nowMs: performance.now() };
}

function enter(parts: ListenerParts, visit: Visit, pass: (visit: Visit, route: Route, caller: Caller) => void): void {
  const { incoming, response, connection, nowMs } = visit;
  const { bucket } = connection;
  const waitMs = bucket === undefined ? 0 : (parts.addresses?.take(bucket, nowMs) ?? 0);
  const refusal = waitMs > 0 ? tooMany(waitMs) : checkHost(incoming, parts.head);
  if (refusal !== undefined) return refuse(parts, visit, refusal);
  if (parts.publicAnswers.send(visit)) return;

  const origin = checkOrigin(incoming, parts.head);
  if (typeof origin === "object") return refuse(parts, visit, origin);
  if (origin === "allowed") {
    allowPage(incoming, response);
    if (isPreflight(incoming)) return sendPreflight(incoming, response);
  }
  const route = parts.findRoute(visit.path);
  if (route === undefined) return refuse(parts, visit, { status: 404, message: "nothing is at this path", keep: true });
  visit.route = route;

  const { authorization: header } = incoming.headers;
  const answer = parts.access.check({ header, query: visit.query, network: connection.network, nowMs });
  const go = (found: Caller | Denial): void => {
    if (isDenial(found)) refuse(parts, visit, { ...found, message: found.reason }, route);
    else if (!response.destroyed) pass(visit, route, found);
  };
  if (answer instanceof Promise) void answer.then(go, (cause: unknown) => crash(parts, visit, cause, route));
  else go(answer);
}

/** What is told of a request that is over. An answer that never began is one that its client did not wait for. */
function toEnd({ incoming, response, path, route, caller, requestId, nowMs }: Visit): RequestEnd {
  const { method = "" } = incoming;
  return {
    method,
    path: toPublicPath(path) ?? route?.describePath?.(method, path) ?? route?.path ?? noPath,
    status: response.headersSent ? response.statusCode : 499,
    durationMs: performance.now() - nowMs,
    requestId,
    ...(caller !== undefined && { caller: caller.id }),
  };
}

/** What stands for a path that nothing is at, or that was refused before it was looked for. */
const noPath = "(none)";

function runRoute(parts: ListenerParts, route: Route, request: PassedRequest): void {
  try {
    const done = route.handle(request);
    if (done !== undefined) done.then(undefined, (cause: unknown) => crash(parts, request, cause, route));
  } catch (cause) {
    crash(parts, request, cause, route);
  }
}

/** Answers for a route that threw. Only a refusal says why: anything else may hold secrets. */
function crash(parts: ListenerParts, checked: Checked, cause: unknown, route: Route): void {
  if (isKitbagError(cause, "request-refused")) {
    const { status, reason } = cause.details;
    refuse(parts, checked, { status, message: reason, keep: status !== 413 && status !== 408 }, route);
    return;
  }
  parts.report({ type: "request-crashed", path: checked.path, error: cause, requestId: checked.requestId });
  const message = "the service failed; its log says more";
  sendRefusal(checked.incoming, checked.response, { status: 500, message, keep: true }, route);
}

function refuse(parts: ListenerParts, checked: Checked, refusal: SentRefusal, route?: Route): void {
  const { incoming, response, path, requestId } = checked;
  const address = incoming.socket.remoteAddress ?? "";
  parts.report({ type: "request-refused", status: refusal.status, reason: refusal.message, address, path, requestId });
  sendRefusal(incoming, response, refusal, route);
}

function takeOne(buckets: Buckets | undefined, name: string, nowMs: number): number {
  return buckets === undefined ? 0 : buckets.take(buckets.find(name, nowMs), nowMs);
}

function tooMany(retryAfterMs: number): SentRefusal & Refusal {
  return { status: 429, message: "too many requests; wait, then go on more slowly", retryAfterMs, keep: true };
}

/** What heads are checked with. */
interface HeadParts {
  readonly isHost: (header: string) => boolean;
  readonly findOrigin: (origin: string, host: string) => OriginKind;
  readonly limits: Pick<GateLimits, "maxBodyBytes">;
}

/** Finds what is wrong with the address or the `Host` of a request. */
function checkHost(incoming: IncomingMessage, { isHost }: HeadParts): Refusal | undefined {
  if (incoming.url?.startsWith("/") !== true) {
    return { status: 400, message: 'the address of a request must be a path that starts with "/"' };
  }
  if (hasTwice(incoming.rawHeaders)) return { status: 400, message: "Host and Authorization may be sent once" };
  const { host } = incoming.headers;
  if (host === undefined) return { status: 400, message: "the Host header is missing" };
  if (isHost(host)) return undefined;
  return { status: 403, message: `this service is not called ${quote(host)}; use its own address, or allow the name` };
}

/** Finds what is wrong with the page that a request comes from. Also tells whether it is of another host. */
function checkOrigin(incoming: IncomingMessage, { findOrigin }: HeadParts): Refusal | OriginKind {
  const { origin, host = "" } = incoming.headers;
  if (origin === undefined) return "own";
  const kind = findOrigin(origin, host);
  if (kind !== "foreign") return kind;
  return {
    status: 403,
    message: `pages of ${quote(origin)} may not call this service; allow the origin if they should`,
  };
}

/** Finds out that a body says itself that it is too large. */
function checkLength(incoming: IncomingMessage, { limits }: HeadParts): Refusal | undefined {
  const length = incoming.headers["content-length"];
  if (length === undefined || Number(length) <= limits.maxBodyBytes) return undefined;
  return { status: 413, message: describeTooLarge(limits.maxBodyBytes) };
}

/** Node takes the first of two, a proxy in front of us may take the last. */
function hasTwice(rawHeaders: readonly string[]): boolean {
  let hosts = 0;
  let tokens = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? "";
    if (name.length === 4 && name.toLowerCase() === "host") hosts += 1;
    else if (name.length === 13 && name.toLowerCase() === "authorization") tokens += 1;
  }
  return hosts > 1 || tokens > 1;
}
