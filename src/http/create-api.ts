import { KitbagError, quote } from "../core/errors.ts";
import type { JsonValue } from "../core/json.ts";
import { hasScope } from "../core/scopes.ts";
import type { Caller } from "../gate/gate.ts";
import { limitSession } from "../gate/sessions/limit-session.ts";
import {
  createUserSessions,
  userSessionLimits,
  readSessionName,
  type SessionUse,
  type UserSessions,
} from "../gate/sessions/user-sessions.ts";
import { findOperation } from "./find-operation.ts";
import type { HttpParts } from "./http-options.ts";
import type { BytesAnswer, Operation, OperationContext } from "./operation.ts";
import { createLiveCalls, type LiveCalls } from "./live-calls.ts";
import { createLiveRuns, type LiveRuns } from "./live-runs.ts";
import { operations } from "./operations.ts";
import type { Method } from "./paths.ts";
import { problemType, refuseRequest, toThrownProblem, type ProblemDocument } from "./problem.ts";
import { readInput } from "./read-input.ts";
import { safeHeaders, type ServerEvent } from "./server-events.ts";
import { findDocument } from "./documents.ts";

/** A request, without what is particular to the listener or the framework that received it. */
export interface ApiRequest {
  readonly method: string;
  /** Below the path that the API is mounted at: `/tools`. */
  readonly path: string;
  /** The path that the API is mounted at. */
  readonly basePath: string;
  /** As it was sent, without the `?`. */
  readonly query: string;
  header(name: string): string | undefined;
  readonly caller: Caller;
  /** Aborted when the client goes away. */
  readonly signal: AbortSignal;
  /** The same, and when the service closes: for streams, which go on until then. @default as `signal` */
  readonly streamSignal?: AbortSignal;
  readBody(): Promise<Uint8Array>;
}

/** An answer: the whole of it as text or bytes, or events that follow one another. */
export interface ApiAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array | AsyncIterable<ServerEvent>;
}

/** The API, ready for any listener. */
export interface Api {
  /** Answers a request. Never throws: a fault of the service is a 500 without its reason, which `onError` gets. */
  answer(request: ApiRequest): Promise<ApiAnswer>;
  /** Closes the sessions of users that it opened itself. */
  close(): Promise<void>;
}

/** Makes the API. */
export function createApi(parts: HttpParts, onError: (error: unknown) => void = () => {}): Api {
  const own = createUserSessions(parts.workspace, userSessionLimits);
  const users = parts.users ?? own;
  const shared: Shared = { ...parts, users, live: createLiveRuns(parts.onRunEvent), calls: createLiveCalls(), onError };
  return {
    async answer(request) {
      try {
        return await answerRequest(shared, request);
      } catch (cause) {
        const problem = toThrownProblem(cause);
        if (problem !== undefined) return toAnswer(problem, { retryAfter: cause });
        onError(cause);
        return toAnswer(refuseRequest(500, "the service failed; its log says more"));
      }
    },
    close: () => own.closeAll(),
  };
}

/** What all requests share. */
interface Shared extends HttpParts {
  readonly users: UserSessions;
  readonly live: LiveRuns;
  readonly calls: LiveCalls;
  readonly onError: (error: unknown) => void;
}

async function answerRequest(parts: Shared, request: ApiRequest): Promise<ApiAnswer> {
  const { path, caller } = request;
  const method = request.method === "HEAD" ? "GET" : request.method;
  const document = method === "GET" ? await findDocument(path, request.basePath) : undefined;
  if (document !== undefined) return toBytes(document);
  const found = findOperation(method, path);
  if (found.kind === "missing") throw refuse(404, describeMissing(path, found.nearest));
  if (found.kind === "wrong-method") return refuseMethod(method, path, found.methods);
  const operation: Operation = operations[found.name];
  const { scope } = operation;
  if (scope !== undefined && !hasScope(caller.scopes, scope))
    throw refuse(403, `the token lacks the scope ${scope}, which ${found.name} needs`);
  const input = readInput(operation, found.parameters, {
    query: new URLSearchParams(request.query),
    contentType: request.header("content-type"),
    isForeign: request.header("origin") !== undefined && request.header("sec-fetch-site") !== "same-origin",
    body: method === "GET" ? undefined : await request.readBody(),
  });
  return answerOperation(operation, input, { parts, request });
}

async function answerOperation(
  operation: Operation,
  input: JsonValue,
  { parts, request }: Pick<ContextParts, "parts" | "request">,
): Promise<ApiAnswer> {
  const use = useSession(parts.users, request);
  const headers: Record<string, string> = {};
  const context = toContext({ parts, request, use, headers });
  try {
    if (operation.stream !== undefined && request.method !== "HEAD" && wantsStream(operation, input, request)) {
      const signal = request.streamSignal ?? request.signal;
      const events = await operation.stream({ ...context, session: context.session, signal }, input);
      return { status: 200, headers, body: holdSession(events, use.hold(), parts.onError) };
    }
    const value = await operation.handle(context, input);
    return isBytes(value) ? toBytes(value, headers) : toJson(value, headers);
  } finally {
    use.end();
  }
}

function useSession(users: UserSessions, { query, header, caller }: ApiRequest): SessionUse {
  const name = readSessionName(query, { "kitbag-session": header("kitbag-session") });
  if (name === undefined)
    throw refuse(
      400,
      'cannot use "session" as the name of a session: expected at most 64 letters, digits and any of . : @ - _',
    );
  const use = users.use(caller, name);
  if (use === undefined) throw refuse(503, "too many sessions are in use; try again in a moment");
  return use;
}

interface ContextParts {
  readonly parts: Shared;
  readonly request: ApiRequest;
  readonly use: SessionUse;
  readonly headers: Record<string, string>;
}

function toContext({ parts, request, use, headers }: ContextParts): OperationContext {
  const { caller, signal } = request;
  let session: OperationContext["session"] | undefined;
  return {
    parts,
    live: parts.live,
    calls: parts.calls,
    caller,
    signal,
    get session() {
      return (session ??= limitSession(use.session, caller, parts.workspace, relativeFolder));
    },
    mayServe: () => hasScope(caller.scopes, "service"),
    header: (name) => request.header(name),
    setHeader(name, value) {
      headers[name] = value;
    },
  };
}

/** Clients of the API read files of skills by their path in the skill's folder. */
function relativeFolder(): string {
  return ".";
}

/** A stream keeps its session open. One that fails ends with a problem: its client must not take what it has for the whole. */
async function* holdSession(
  events: AsyncIterable<ServerEvent>,
  end: () => void,
  onError: (error: unknown) => void,
): AsyncIterable<ServerEvent> {
  try {
    yield* events;
  } catch (cause) {
    const problem = toThrownProblem(cause);
    if (problem === undefined) onError(cause);
    yield { event: "problem", data: problem ?? refuseRequest(500, "the service failed; its log says more") };
  } finally {
    end();
  }
}

function wantsStream(operation: Operation, input: JsonValue, { header }: ApiRequest): boolean {
  return operation.isStream?.(input) ?? accepts(header("accept"), "text/event-stream");
}

function accepts(header: string | undefined, type: string): boolean {
  return header !== undefined && header.split(",").some((part) => part.split(";", 1)[0]?.trim() === type);
}

function isBytes(value: JsonValue | BytesAnswer): value is BytesAnswer {
  return typeof value === "object" && value !== null && "bytes" in value && value.bytes instanceof Uint8Array;
}

const jsonType = "application/json";

/** What the API's own page needs, and nothing else. */
const pagePolicy =
  "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

function toJson(value: JsonValue, headers: Readonly<Record<string, string>> = {}): ApiAnswer {
  return {
    status: 200,
    headers: { "content-type": jsonType, ...safeHeaders, ...headers },
    body: JSON.stringify(value),
  };
}

/** What tools wrote is never shown as a page of this address. */
function toBytes({ bytes, type, name }: BytesAnswer, headers: Readonly<Record<string, string>> = {}): ApiAnswer {
  const disposition =
    name === undefined ? {} : { "content-disposition": `attachment; filename*=UTF-8''${encodeURIComponent(name)}` };
  return {
    status: 200,
    headers: {
      "content-type": type,
      ...safeHeaders,
      "content-security-policy": pagePolicy,
      ...disposition,
      ...headers,
    },
    body: bytes,
  };
}

function toAnswer(problem: ProblemDocument, { retryAfter }: { readonly retryAfter?: unknown } = {}): ApiAnswer {
  const waitMs = (retryAfter as { readonly details?: { readonly retryAfterMs?: unknown } } | undefined)?.details
    ?.retryAfterMs;
  return {
    status: problem.status,
    headers: {
      "content-type": problemType,
      ...safeHeaders,
      ...(typeof waitMs === "number" && { "retry-after": String(Math.ceil(waitMs / 1000)) }),
    },
    body: JSON.stringify(problem),
  };
}

function refuseMethod(method: string, path: string, methods: readonly Method[]): ApiAnswer {
  const problem = refuseRequest(405, `${path} takes ${methods.join(" or ")}, and not ${method}`);
  return { ...toAnswer(problem), headers: { "content-type": problemType, ...safeHeaders, allow: methods.join(", ") } };
}

function describeMissing(path: string, nearest: readonly string[]): string {
  const near = nearest.length === 0 ? "GET /openapi.json lists what there is" : `the nearest are ${nearest.join(", ")}`;
  return `nothing is at ${quote(path)}; ${near}`;
}

function refuse(status: number, reason: string): KitbagError<"request-refused"> {
  return new KitbagError("request-refused", { status, reason });
}
