import type { ClientCapabilities, ServerContext } from "@modelcontextprotocol/server";

import type { Session } from "../../workspace/workspace.ts";
import type { McpExposure } from "./mcp-server-options.ts";
import type { ServedClient } from "./served-client.ts";
import type { SessionHandles } from "./sessions/session-handles.ts";

/** A request, as far as it says something of its client. */
export interface SaidWithRequest {
  readonly mcpReq: Pick<ServerContext["mcpReq"], "envelope">;
}

/** A client, and what only the part of the server that serves tools must know of it. */
export interface ToolClient extends ServedClient {
  /** Remembers what the client says of itself with a request. */
  see(context: SaidWithRequest): void;
  /** Which tools it is shown. */
  exposure(): McpExposure;
  /** What the client says that it can do, with this request or when it connected. */
  capabilities(context: SaidWithRequest): ClientCapabilities | undefined;
  /** Sessions that clients of the 2026 generation keep by handles. */
  readonly handles: SessionHandles;
  /** Another session as this client's caller may see it. */
  guard(session: Session): Session;
}
