import { once } from "node:events";

import type { GateRequest, Route } from "../gate/gate.ts";
import { createApi, type ApiAnswer } from "./create-api.ts";
import type { HttpParts } from "./http-options.ts";
import { problemType, refuseRequest } from "./problem.ts";
import { heartbeat, heartbeatMs, renderServerEvent, streamHeaders, type ServerEvent } from "./server-events.ts";

/** The API as a route of a gate. */
export interface ApiRoute extends Route {
  /** Closes what the route opened. */
  close(): Promise<void>;
}

/** A client that takes nothing for so long is cut: it comes back with the last position that it has. */
const stuckMs = 30_000;

/** Makes the route of the API: the gate has checked `Host`, `Origin`, token and limits before. */
export function createApiRoute(parts: HttpParts, onError: (error: unknown) => void, basePath = "/api"): ApiRoute {
  const api = createApi(parts, onError);
  const streams = new Set<AbortController>();
  return {
    path: `${basePath}/*`,
    async handle(request) {
      const { incoming } = request;
      const closing = new AbortController();
      const answer = await api.answer({
        method: incoming.method ?? "GET",
        path: request.path.slice(basePath.length) || "/",
        basePath,
        query: request.query,
        header: (name) => {
          const value = incoming.headers[name];
          return Array.isArray(value) ? value.join(", ") : value;
        },
        caller: request.caller,
        signal: AbortSignal.any([request.signal, closing.signal]),
        readBody: () => request.readBody(),
      });
      streams.add(closing);
      try {
        await write(request, answer);
      } finally {
        streams.delete(closing);
        closing.abort();
      }
    },
    refusalType: problemType,
    renderRefusal: ({ status, message }) => JSON.stringify(refuseRequest(status, message)),
    onClosing: () => streams.forEach((stream) => stream.abort()),
    close: () => api.close(),
  };
}

async function write({ incoming, response, signal }: GateRequest, { status, headers, body }: ApiAnswer): Promise<void> {
  const isHead = incoming.method === "HEAD";
  if (typeof body === "string" || body instanceof Uint8Array) {
    response
      .writeHead(status, { ...headers, "content-length": Buffer.byteLength(body) })
      .end(isHead ? undefined : body);
    return;
  }
  response.writeHead(status, { ...headers, ...streamHeaders });
  // A client that waits for events waits for the head first.
  response.flushHeaders();
  const beat = setInterval(() => response.write(heartbeat), heartbeatMs);
  try {
    for await (const event of body) if (!(await writeEvent(response, event, signal))) return;
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
