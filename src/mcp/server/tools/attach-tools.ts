import { ProtocolError, ProtocolErrorCode, type McpServer } from "@modelcontextprotocol/server";

import { callTool } from "../calls/call-tool.ts";
import type { OpenCalls } from "../calls/open-calls.ts";
import { withSessionParameter } from "../sessions/handle-dispatch.ts";
import { getDispatchTools } from "../sessions/session-tools.ts";
import type { ToolClient } from "../client.ts";
import { listTools, toListedDispatchTool, type ListForm, type ToolList } from "./listed-tools.ts";

/** How long clients that do not hear of changes may use a list. */
export const listTtlMs = 5000;

/** Serves the tools of a client. Before the server is connected. */
export function attachTools(mcp: McpServer, client: ToolClient, calls: OpenCalls): void {
  const { server } = mcp;
  server.registerCapabilities({ tools: { listChanged: true }, logging: {} });

  server.setRequestHandler("tools/list", ({ params }, context) => {
    client.see(context);
    if (params?.cursor !== undefined) {
      const message = "Cannot go on with the list of tools: it has one page, so there is no cursor";
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, message);
    }
    const { tools } = getToolList(client);
    const hints = client.generation === "2026" ? { ttlMs: listTtlMs, cacheScope: "private" as const } : {};
    return { tools: tools as ToolList["tools"][number][], ...hints };
  });
  server.setRequestHandler("tools/call", ({ params }, context) => {
    client.see(context);
    return callTool(calls, client, { name: params.name, input: params.arguments }, context);
  });

  // The SDK checks headers that repeat arguments, and asks the server itself what a tool takes.
  mcp.toolInputSchemaJson = (name) => client.session.getTool(name)?.tool.inputSchema;
}

/** What `tools/list` answers a client now. The same object while nothing changes. */
export function getToolList(client: ToolClient): ToolList {
  return listTools(client.session.getAvailableTools(), toListForm(client));
}

const fixedFew = new Map<string, ListForm["dispatch"]>();

function toListForm({ generation, session, exposure }: ToolClient): ListForm {
  const dispatch =
    fixedFew.get(generation) ??
    [...getDispatchTools(session).values()].map((tool) =>
      toListedDispatchTool(
        generation === "2026" ? { ...tool, inputSchema: withSessionParameter(tool.inputSchema) } : tool,
      ),
    );
  fixedFew.set(generation, dispatch);
  return { exposure: exposure(), generation, dispatch };
}
