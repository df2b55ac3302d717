import type { JSONRPCMessage } from "@modelcontextprotocol/server";

import type { Caller } from "../../../gate/gate.ts";
import type { StdioOptions, StdioServing } from "../mcp-serving.ts";
import { serveConnection, type Services, type ServedConnection } from "../services.ts";

/** Who started the process may do everything in it. */
const local: Caller = { id: "local", scopes: "all" };

/** Serves one client by lines. */
export async function serveOverStdio(services: Services, { input, output }: StdioOptions): Promise<StdioServing> {
  const { serveStdio, StdioServerTransport } = await import("@modelcontextprotocol/server/stdio");
  const transport = new StdioServerTransport(input, output);
  const connections = new Set<ServedConnection>();

  const handle = serveStdio(
    ({ era }) => {
      const connection = serveConnection(services, { caller: local, generation: era === "legacy" ? "2025" : "2026" });
      connections.add(connection);
      connection.mcp.server.onclose = () => void connection.close();
      return connection.mcp;
    },
    {
      transport,
      maxSubscriptions: services.limits.maxSubscriptions,
      onerror(error) {
        services.options.onError?.(error);
        const answer = toParseError(error);
        if (answer !== undefined) transport.send(answer).catch(() => {});
      },
    },
  );
  const { promise: closed, resolve } = Promise.withResolvers<void>();
  const onClose = transport.onclose;
  transport.onclose = () => {
    onClose?.();
    void Promise.all([...connections].map((connection) => connection.close())).then(() => resolve());
  };
  return {
    closed,
    async close() {
      await handle.close();
      await closed;
    },
  };
}

/** A line that is no message has no number that an answer could name. */
function toParseError(error: Error): JSONRPCMessage | undefined {
  const isParsing = error instanceof SyntaxError || error.name === "ZodError";
  if (!isParsing) return undefined;
  const isJson = !(error instanceof SyntaxError);
  const [code, message] = isJson
    ? [-32_600, "Invalid Request: the line is no JSON-RPC message"]
    : [-32_700, "Parse error: the line is no JSON"];
  return { jsonrpc: "2.0", id: null, error: { code, message } } as unknown as JSONRPCMessage;
}
