import type { JSONRPCMessage } from "@modelcontextprotocol/server";
import { serveStdio, StdioServerTransport } from "@modelcontextprotocol/server/stdio";

import { localUser } from "../../../core/scopes.ts";
import type { Caller } from "../../../gate/gate.ts";
import { createLeanStdio } from "../lean/lean-stdio.ts";
import type { StdioOptions, StdioServing } from "../mcp-serving.ts";
import { serveConnection, type Services, type ServedConnection } from "../services.ts";

/** Who started the process may do everything in it. */
const local: Caller = { id: localUser, scopes: "all" };

/** Serves one client by lines. */
export async function serveOverStdio(services: Services, given: StdioOptions): Promise<StdioServing> {
  const { input = process.stdin, output = process.stdout } = given;
  const connections = new Set<ServedConnection>();
  let current: ServedConnection | undefined;
  const lean = createLeanStdio(services, {
    input,
    output,
    connection: () =>
      current?.client.generation === "2026" || current?.client.info() !== undefined ? current : undefined,
  });
  const transport = new StdioServerTransport(lean.rest, output);

  async function report(cause: Error): Promise<void> {
    services.options.onError?.(cause);
    const answer = toInvalidRequest(cause);
    // A client that is gone need not be told.
    if (answer !== undefined) await transport.send(answer).catch(() => {});
  }

  const handle = serveStdio(
    ({ era }) => {
      const connection = serveConnection(services, { caller: local, generation: era === "legacy" ? "2025" : "2026" });
      connections.add(connection);
      current = connection;
      Object.assign(connection.mcp.server, { onclose: () => void connection.close() });
      return connection.mcp;
    },
    {
      transport,
      maxSubscriptions: services.limits.maxSubscriptions,
      onerror: (cause) => void report(cause),
    },
  );
  const { promise: closed, resolve } = Promise.withResolvers<void>();
  const { onclose } = transport;
  Object.assign(transport, {
    onclose() {
      lean.stop();
      onclose?.();
      void Promise.all([...connections].map((connection) => connection.close())).then(() => resolve());
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

/** JSON that is no message has no number that an answer could name. A line that is no JSON at all, the SDK passes over. */
function toInvalidRequest(cause: Error): JSONRPCMessage | undefined {
  if (cause.name !== "ZodError" && cause.name !== "$ZodError") return undefined;
  const error = { code: -32_600, message: "Invalid Request: the line is no JSON-RPC message" };
  return { jsonrpc: "2.0", id: null, error } as unknown as JSONRPCMessage;
}
