import { randomUUID } from "node:crypto";

import type { JSONRPCMessage } from "@modelcontextprotocol/server";
import { serveStdio, StdioServerTransport } from "@modelcontextprotocol/server/stdio";

import { localCaller } from "../../../gate/access/token-check.ts";
import type { Caller } from "../../../gate/gate.ts";
import type { Session } from "../../../workspace/workspace.ts";
import type { StdioOptions, StdioServing } from "../mcp-server-options.ts";
import { createPlainStdio } from "../plain/plain-stdio.ts";
import { createRunListens, readListenedUris, type RunListen } from "../resources/subscriptions.ts";
import type { SessionUse } from "../sessions/user-sessions.ts";
import { serveConnection, type ServedConnection, type Services } from "../serve-client.ts";

/** Who started the process; another object than that of an HTTP service without tokens, which any program of the machine may call. */
const processCaller: Caller = { ...localCaller };

/** Serves one client by lines. */
export async function serveOverStdio(services: Services, given: StdioOptions): Promise<StdioServing> {
  const { input = process.stdin, output = process.stdout } = given;
  // What is open belongs to the process: it is the same for a client that connects again.
  const use = useOne(services.options.workspace.openSession());
  const connections = new Set<ServedConnection>();
  let current: ServedConnection | undefined;
  const transport = new StdioServerTransport(input, output);
  const listens = followListens(services, () => current);
  const plain = createPlainStdio(services, transport, () => current);
  const handle = serveStdio(
    ({ era }) => {
      const connection = serveConnection(services, {
        caller: processCaller,
        generation: era === "legacy" ? "2025" : "2026",
        use,
      });
      connections.add(connection);
      current = connection;
      Object.assign(connection.mcp.server, { onclose: () => connection.close() });
      return connection.mcp;
    },
    {
      transport,
      maxSubscriptions: services.limits.maxSubscriptions,
      onerror: (cause) => answerError(cause, services, transport),
    },
  );
  const { promise: closed, resolve } = Promise.withResolvers<void>();
  const { onclose, onmessage } = transport;
  Object.assign(transport, {
    onmessage(message: JSONRPCMessage) {
      listens.see(message);
      if (!plain.take(message)) onmessage?.(message);
    },
    onclose() {
      plain.close();
      listens.close();
      services.calls.tasks.closeOf(use.key);
      onclose?.();
      for (const connection of connections) connection.close();
      void use.session.close().then(() => resolve());
    },
  });
  return {
    closed,
    async close() {
      await handle.close();
      await closed;
    },
  };
}

/** What is open stays open while the process lives. */
function useOne(session: Session): SessionUse {
  return { session, key: randomUUID(), isRemote: false, touch() {}, hold: () => () => {}, end() {} };
}

function answerError(cause: Error, { options }: Services, transport: StdioServerTransport): void {
  options.onError?.(cause);
  const answer = toInvalidRequest(cause);
  // A client that disconnected needs no answer.
  if (answer !== undefined) void transport.send(answer).catch(() => {});
}

/** JSON that is not a message has no id that an answer could name. The SDK skips a line that is not JSON. */
function toInvalidRequest(cause: Error): JSONRPCMessage | undefined {
  if (cause.name !== "ZodError" && cause.name !== "$ZodError") return undefined;
  const error = { code: -32_600, message: "Invalid Request: the line is no JSON-RPC message" };
  return { jsonrpc: "2.0", id: null, error } as unknown as JSONRPCMessage;
}

interface StdioListens {
  see(message: JSONRPCMessage): void;
  close(): void;
}

/** Follows the runs that a 2026 client listens to. The SDK answers the requests, and knows which stream gets which notification. */
function followListens({ runs }: Services, connection: () => ServedConnection | undefined): StdioListens {
  const listens = createRunListens(runs, (uri) => connection()?.notifier.resourceUpdated(uri));
  const open = new Map<unknown, RunListen>();

  return {
    see(message) {
      if (!("method" in message) || runs === undefined || connection()?.client.generation !== "2026") return;
      const id = "id" in message ? message.id : undefined;
      if (message.method === "subscriptions/listen" && !open.has(id)) {
        open.set(id, listens.begin(readListenedUris(message)));
      } else if (message.method === "notifications/cancelled") {
        const cancelled = message.params?.["requestId"];
        open.get(cancelled)?.end();
        open.delete(cancelled);
      }
    },
    close: listens.close,
  };
}
