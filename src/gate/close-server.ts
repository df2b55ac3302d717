import type { Server } from "node:http";

import type { Listener, ListenerParts } from "./create-listener.ts";
import type { Route } from "./gate.ts";

/** What is closed. */
export interface Closing {
  readonly server: Server;
  readonly listener: Listener;
  readonly parts: ListenerParts;
  readonly routes: readonly Route[];
}

/** Stops listening, waits for what runs, and cuts what is left after `graceMs`. */
export async function closeServer({ server, listener, parts, routes }: Closing, graceMs: number): Promise<void> {
  const closed = new Promise<void>((resolve) => {
    server.close(() => {
      resolve();
    });
  });
  listener.close(() => {
    // Node counts a connection as idle only after the request's own "close".
    setImmediate(() => {
      server.closeIdleConnections();
    });
  });
  parts.connections.cutWaiting();
  for (const route of routes) route.onClosing?.();
  server.closeIdleConnections();
  const timer = setTimeout(() => {
    server.closeAllConnections();
  }, graceMs);
  await closed;
  clearTimeout(timer);
}
