import { once } from "node:events";

import type { GateRequest, Route } from "../gate/gate.ts";
import { createApi, type ApiAnswer, type ApiRequest } from "./create-api.ts";
import { describePlace } from "./find-operation.ts";
import type { HandlerOptions, HttpParts } from "./http-options.ts";
import { problemType, refuseRequest } from "./problem.ts";
import { heartbeat, heartbeatMs, renderServerEvent, streamHeaders, type ServerEvent } from "./server-events.ts";

/** The API as a route of a gate. */
export interface ApiRoute extends Route {
  /** Closes what the route opened. */
  close(): Promise<void>;
}

/** How the route is served. */
export type ApiRouteOptions = Pick<HandlerOptions, "basePath" | "onError">;

/** A client that takes nothing for so long is cut: it comes back with the last position that it has. */
const stuckMs = 30_000;

/**
 * Makes the API as a route of a gate, which checks `Host`, `Origin`, token and limits before. Close the gate first, then the route.
 *
 * @example
 * ```ts
 * import { createWorkspace } from "kitbag";
 * import { createClient } from "kitbag/client";
 * import { createApiRoute } from "kitbag/http";
 * import { openGate } from "kitbag/mcp";
 *
 * const token = "a-token-that-is-hard-to-guess";
 * const route = createApiRoute({ workspace: createWorkspace() });
 * const gate = await openGate({ routes: [route], tokens: [{ id: "ann", token }] });
 *
 * const { items } = await createClient({ url: `${gate.url}/api`, token }).skills.list();
 * console.assert(items.length === 0);
 * await gate.close();
 * await route.close();
 * ```
 */
export function createApiRoute(parts: HttpParts, { onError, basePath = "/api" }: ApiRouteOptions = {}): ApiRoute {
  const api = createApi(parts, onError);
  const streams = new Set<AbortController>();
  let isClosing = false;
  return {
    path: `${basePath}/*`,
    async handle(request) {
      const closing = new AbortController();
      const answer = await api.answer(toApiRequest(request, basePath, closing));
      if (typeof answer.body === "string" || answer.body instanceof Uint8Array)
        return writeWhole(request, answer, answer.body);
      streams.add(closing);
      if (isClosing) closing.abort();
      try {
        await writeStream(request, answer, answer.body);
      } finally {
        streams.delete(closing);
        closing.abort();
      }
    },
    describePath(method, path) {
      const place = describePlace(method, path.slice(basePath.length));
      return place === undefined ? `${basePath}/*` : basePath + place;
    },
    refusalType: problemType,
    renderRefusal: ({ status, message }) => JSON.stringify(refuseRequest(status, message)),
    onClosing() {
      isClosing = true;
      for (const stream of streams) stream.abort();
    },
    close: () => api.close(),
  };
}

function toApiRequest(request: GateRequest, basePath: string, closing: AbortController): ApiRequest {
  const { incoming, path, query, caller } = request;
  let signal: AbortSignal | undefined;
  return {
    method: incoming.method ?? "GET",
    path: path.slice(basePath.length) || "/",
    basePath,
    query,
    header(name) {
      const value = incoming.headers[name];
      return Array.isArray(value) ? value.join(", ") : value;
    },
    caller,
    // Only streams go on while the gate closes: the others are waited for. A signal costs more than the rest of a small call.
    signal: request.signal,
    get streamSignal() {
      return (signal ??= AbortSignal.any([request.signal, closing.signal]));
    },
    readBody: () => request.readBody(),
  };
}

function writeWhole(
  { incoming, response }: GateRequest,
  { status, headers }: ApiAnswer,
  body: string | Uint8Array,
): void {
  const length = Buffer.byteLength(body);
  response
    .writeHead(status, { ...headers, "content-length": length })
    .end(incoming.method === "HEAD" ? undefined : body);
}

async function writeStream(
  { response, signal }: GateRequest,
  { status, headers }: ApiAnswer,
  events: AsyncIterable<ServerEvent>,
): Promise<void> {
  response.writeHead(status, { ...headers, ...streamHeaders });
  // A client that waits for events waits for the head first.
  response.flushHeaders();
  const beat = setInterval(() => response.write(heartbeat), heartbeatMs);
  try {
    for await (const event of events) if (!(await writeEvent(response, event, signal))) return;
  } finally {
    clearInterval(beat);
    response.end();
  }
}

/** Answers whether the client is still there. */
async function writeEvent(
  response: GateRequest["response"],
  event: ServerEvent,
  signal: AbortSignal,
): Promise<boolean> {
  if (signal.aborted || response.destroyed) return false;
  if (response.write(renderServerEvent(event))) return true;
  try {
    await once(response, "drain", { signal: AbortSignal.any([signal, AbortSignal.timeout(stuckMs)]) });
    return true;
  } catch {
    response.destroy();
    return false;
  }
}
