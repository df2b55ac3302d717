import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from "node:http";
import type { Socket } from "node:net";

import type { Refusal, Route } from "../gate.ts";

/** A refusal and how it is sent. */
export interface SentRefusal extends Refusal {
  /** The `WWW-Authenticate` header. */
  readonly challenge?: string | undefined;
  readonly retryAfterMs?: number | undefined;
  /** Whether the connection may be used again. @default false */
  readonly keep?: boolean;
}

/** The largest body that is read to its end although the request is refused. */
const drainBytes = 64 * 1024;

/** How long a client that is still sending may take to see that it was refused. */
const lingerMs = 1000;

/** Answers a request with a refusal. A request that is answered already in part is cut. */
export function sendRefusal(
  incoming: IncomingMessage,
  response: ServerResponse,
  refusal: SentRefusal,
  route?: Route,
): void {
  if (response.headersSent || response.destroyed) {
    response.destroy();
    return;
  }
  const { status, message, challenge, retryAfterMs, keep = false } = refusal;
  const body = renderBody({ status, message }, route);
  const stays = keep && endsSoon(incoming);
  if (!stays && !incoming.complete) linger(incoming.socket);
  incoming.resume();
  const headers: OutgoingHttpHeaders = {
    "content-type": route?.refusalType ?? "application/json",
    "content-length": Buffer.byteLength(body),
    "cache-control": "no-store",
  };
  if (!stays) headers.connection = "close";
  if (challenge !== undefined) headers["www-authenticate"] = challenge;
  if (retryAfterMs !== undefined) headers["retry-after"] = String(Math.max(1, Math.ceil(retryAfterMs / 1000)));
  response.writeHead(status, headers).end(incoming.method === "HEAD" ? undefined : body);
}

function renderBody(refusal: Refusal, route: Route | undefined): string {
  return route?.renderRefusal?.(refusal) ?? JSON.stringify({ error: refusal });
}

function endsSoon(incoming: IncomingMessage): boolean {
  if (incoming.complete) return true;
  // Who waits to be told to go on may never send the body, and then the next request would be taken for it.
  if (incoming.headers["transfer-encoding"] !== undefined || incoming.headers.expect !== undefined) return false;
  return Number(incoming.headers["content-length"] ?? 0) <= drainBytes;
}

/**
 * Lets the client read the answer before the connection goes. Closing it while bytes of the client lie unread would reset
 * the connection, and take the answer away.
 */
function linger(socket: Socket): void {
  socket.destroySoon = () => {
    socket.end();
    const timer = setTimeout(() => socket.destroy(), lingerMs);
    timer.unref();
    socket.once("close", () => {
      clearTimeout(timer);
    });
  };
}
