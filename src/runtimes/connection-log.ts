import type { RuntimeContext } from "../core/runtime.ts";
import type { Tool } from "../core/tool.ts";
import type { EgressConnection } from "../sandbox/egress/ledger.ts";

/** Gets every connection. */
export type OnConnection = (connection: EgressConnection & { readonly tool: string }) => void;

/** Tells of the connections of tools: everybody who asked, and the calls that they were made in. */
export interface ConnectionLog {
  /** Takes note of a call of a tool; answers with what to do when it is over, which waits with `settle` for its last connections. */
  begin(tool: Tool, context: RuntimeContext): (settle: (tool: Tool) => Promise<void>) => Promise<void>;
  /** Tells of a connection that ended or was refused. All calls of a tool share one way out, so all that run are told. */
  tell(tool: Tool, connection: EgressConnection): void;
}

/** Makes a log of connections. */
export function createConnectionLog(onConnection?: OnConnection): ConnectionLog {
  const running = new Map<Tool, Set<RuntimeContext>>();

  return {
    begin(tool, context) {
      const calls = running.get(tool) ?? new Set();
      running.set(tool, calls.add(context));
      return async (settle) => {
        // Those of other calls may stay open for long.
        if (calls.size === 1 && (tool.permissions.network ?? []).length > 0) await settle(tool);
        calls.delete(context);
        if (calls.size === 0) running.delete(tool);
      };
    },
    tell(tool, connection) {
      onConnection?.({ ...connection, tool: tool.name });
      const calls = running.get(tool) ?? [];
      for (const context of calls) logConnection(context, connection);
    },
  };
}

/** Logs a connection that came about; who is refused one hears why, and so does the operator. */
export function logConnection({ log }: RuntimeContext, connection: EgressConnection): void {
  const { host, port, address, allowed, bytesUp, bytesDown, durationMs, reason } = connection;
  if (!allowed) return;
  log(`Connected to ${host}:${port}`, {
    ...{ address: address ?? "", bytesUp, bytesDown, durationMs: Math.round(durationMs) },
    ...(reason !== undefined && { reason }),
  });
}
