import { randomUUID } from "node:crypto";

import {
  MissingRequiredClientCapabilityError,
  SUBSCRIPTION_ID_META_KEY,
  type JSONRPCMessage,
} from "@modelcontextprotocol/server";
import { serveStdio, StdioServerTransport } from "@modelcontextprotocol/server/stdio";

import { localCaller } from "../../../gate/access/token-check.ts";
import type { Caller } from "../../../gate/gate.ts";
import type { Session } from "../../../workspace/workspace.ts";
import { listenToTasks, type TaskListen } from "../calls/listen-tasks.ts";
import type { StdioOptions, StdioServing } from "../mcp-server-options.ts";
import { createPlainStdio } from "../plain/plain-stdio.ts";
import { createRunListens, readListenedUris, type RunListen } from "../resources/subscriptions.ts";
import type { SessionUse } from "../../../gate/sessions/user-sessions.ts";
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
  const listens = followListens(services, () => current, transport);
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
      const rest = listens.see(message);
      if (rest !== undefined && !plain.take(rest)) onmessage?.(rest);
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
  /** Answers with what is left for the SDK. */
  see(message: JSONRPCMessage): JSONRPCMessage | undefined;
  close(): void;
}

/**
 * Follows the runs and tasks that a 2026 client listens to. The SDK answers the requests, and knows which stream gets which notification;
 * those of tasks are added.
 */
function followListens(
  { runs, calls }: Services,
  connection: () => ServedConnection | undefined,
  transport: StdioServerTransport,
): StdioListens {
  const listens = createRunListens(runs, (uri) => connection()?.notifier.resourceUpdated(uri));
  const open = new Map<unknown, { readonly run: RunListen; readonly tasks: TaskListen | undefined }>();
  const send = transport.send.bind(transport);
  // A client that disconnected needs no notification.
  const tell = (message: JSONRPCMessage): void => void send(message).catch(() => {});
  Object.assign(transport, {
    send(message: JSONRPCMessage) {
      if (!("method" in message) || message.method !== "notifications/subscriptions/acknowledged") return send(message);
      const meta = (message.params?.["_meta"] ?? {}) as Readonly<Record<string, unknown>>;
      return send(open.get(meta[SUBSCRIPTION_ID_META_KEY])?.tasks?.acknowledge(message, tell) ?? message);
    },
  });

  function end(id: unknown): void {
    const { run, tasks } = open.get(id) ?? {};
    run?.end();
    tasks?.end();
    open.delete(id);
  }

  return {
    see(message) {
      const client = connection()?.client;
      if (!("method" in message) || client?.generation !== "2026") return message;
      if (message.method === "notifications/cancelled") end(message.params?.["requestId"]);
      if (message.method !== "subscriptions/listen" || !("id" in message) || open.has(message.id)) return message;
      try {
        const tasks = listenToTasks(message, client, calls.tasks);
        open.set(message.id, { run: listens.begin(readListenedUris(message)), tasks });
        return (tasks?.body as JSONRPCMessage | undefined) ?? message;
      } catch (cause) {
        if (!(cause instanceof MissingRequiredClientCapabilityError)) throw cause;
        const { code, message: text, data } = cause;
        tell({ jsonrpc: "2.0", id: message.id, error: { code, message: text, data } });
        return undefined;
      }
    },
    close() {
      for (const id of [...open.keys()]) end(id);
      listens.close();
    },
  };
}
